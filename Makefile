# SPDX-License-Identifier: GPL-2.0
#
# make help lists the targets. Builds go into the cache; only rpcrdma2.ko is
# copied to the checkout.

PREFIX	?= /usr/local
DIST	?= dist
SERIES	?= dist/series
MINUTES	?= 10

# Where DESTDIR is, there the modules go as well, unless that is said.
export KVER KDIR OFED DESTDIR INSTALL_MOD_PATH FORCE SOURCE JOBS

.PHONY: all module install uninstall nfs-modules nfs-modules-uninstall \
	install-tools uninstall-tools dist deb rpm demo docs check coverage kselftest mutants \
	prove models fuzz series bench lint help clean

all: module

module:
	@scripts/make-module build

install:
	@scripts/make-module install

uninstall:
	@scripts/make-module uninstall

nfs-modules:
	@scripts/nfs/install-nfs-modules.sh

nfs-modules-uninstall:
	@scripts/nfs/install-nfs-modules.sh --uninstall

install-tools uninstall-tools:
	@$(MAKE) -s -C tools $(@:-tools=) DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)"

dist:
	@scripts/dist "$(DIST)"

deb:
	@scripts/setup-packages.sh --deb
	@scripts/deb "$(DIST)"

rpm:
	@scripts/setup-packages.sh --deb
	@scripts/rpm "$(DIST)"

demo:
	@scripts/setup-packages.sh
	@tools/demo/run

# What is known of the mutants, and how, takes no test here.
docs:
	@scripts/setup-packages.sh
	@scripts/requirements "$(DIST)/docs" $(RESULTS)
	@rc=0; tests/mutants/run --minutes 0 --report "$(DIST)/docs/mutants.md" || \
		rc=$$?; [ $$rc = 0 ] || [ $$rc = 3 ]

coverage:
	@scripts/setup-packages.sh --coverage
	@tests/coverage "$(DIST)/coverage"

# tests/run has the lists. What it takes to run it, it cannot install itself.
RUN_TESTS = @command -v python3 > /dev/null || scripts/setup-packages.sh; \
	set -f; tests/run

check:
	$(RUN_TESTS) $(or $(TESTS),check)

check-%:
	$(RUN_TESTS) $@

kselftest:
	@scripts/setup-packages.sh --kselftest
	@scripts/kselftest "$(DIST)"

mutants:
	@scripts/setup-packages.sh
	@tests/mutants/run $(MUTANTS)

prove models:
	$(RUN_TESTS) $@

fuzz:
	@command -v python3 > /dev/null || scripts/setup-packages.sh; \
	FUZZ_SECONDS=$$(($(MINUTES) * 60)) tests/run fuzz

series:
	@scripts/setup-packages.sh --series
	@scripts/series "$(KTREE)" "$(SERIES)" $(OBJECTS)

bench:
	@scripts/setup-packages.sh
ifdef BENCH
	@tests/bench/run $(BENCH)
else
	@rc=0; \
	tests/bench/run --strict || rc=1; \
	tests/bench/run --kernel 7.3-debian13 --strict || rc=1; \
	tests/bench/run --kernel 7.3-debian13 --preempt full || rc=1; \
	tests/bench/run --vers 3 || rc=1; \
	tests/bench/run --kernel 7.3-debian13 --vers 3 || rc=1; \
	tests/bench/run --adapter || rc=1; \
	tests/bench/run --adapter --kernel 7.3-debian13 || rc=1; \
	tests/bench/run --policy || rc=1; \
	exit $$rc
endif

lint:
	@scripts/setup-packages.sh
	@scripts/lint

clean:
	@rm -rf rpcrdma2.ko dist
	@scripts/make-module clean

help:
	@echo 'On a real machine (make deb packages all of this):'
	@echo '  make              build rpcrdma2.ko and copy it to ./rpcrdma2.ko'
	@echo '  make install      install it in /lib/modules/KVER/updates, and run depmod'
	@echo '  make nfs-modules  build and install NFS client modules with the mount'
	@echo '                    option rdmaver='
	@echo '  make install-tools  install the command rpcrdma2 and units for systemd'
	@echo '  make uninstall, nfs-modules-uninstall, uninstall-tools'
	@echo '                    remove them'
	@echo '                    Variables of these targets:'
	@echo '                    KVER=    the kernel, as in uname -r (the running one;'
	@echo '                             uninstall: all)'
	@echo '                    KDIR=    its headers (/lib/modules/KVER/build)'
	@echo '                    SOURCE=  its source, for nfs-modules'
	@echo '                             (/usr/src/linux-source-X.Y.tar.xz)'
	@echo '                    DESTDIR= install below this directory'
	@echo '                    INSTALL_MOD_PATH= the same, for modules only (DESTDIR)'
	@echo '                    PREFIX=  directory of the tools ($(PREFIX))'
	@echo '                    FORCE=1  allow an unsupported kernel, or a module'
	@echo '                             beside that of a package'
	@echo '                    JOBS=    number of parallel jobs (one per CPU)'
	@echo '  make dist         rpcrdma2-VERSION.tar.gz of the last commit, in DIST=$(DIST)'
	@echo '  make deb          Debian packages of the last commit, in DIST=$(DIST)'
	@echo '  make rpm          the same as RPM packages'
	@echo '  make coverage     lines and branches of net/ that tests reach'
	@echo '  make kselftest    tests for machines without the lab, as a tarball with the'
	@echo '                    run_kselftest.sh of the kernel, in DIST=$(DIST)'
	@echo '  make series KTREE=  patches for this kernel source, in SERIES=$(SERIES);'
	@echo '                    OBJECTS= directory of a prepared build, unless the kernel'
	@echo '                    is the newest'
	@echo
	@echo 'In virtual machines (installs missing Debian packages):'
	@echo '  make demo         show NFS over RPC-over-RDMA version 2'
	@echo '  make check        run all tests that every change has to pass. TESTS="...":'
	@echo '                    these; tests/run shows their names, and runs them'
	@echo '  make check-LIST   another list of tests/run: races, kcsan, hw, arm64, kernels,'
	@echo '                    conform, faults, prove-faults, hostile, thousand, pairs,'
	@echo '                    pressure, floating, deb, kselftest, series, collectors,'
	@echo '                    secure-boot, ofed (OFED= a tree of mlnx-ofa_kernel)'
	@echo '  make mutants      do the tests detect small faults? Takes hours; continues'
	@echo '                    after an interruption. MUTANTS="unit", "guest --minutes 30"'
	@echo '  make docs         requirements and their tests, and what make mutants has found,'
	@echo '                    as tables in $(DIST)/docs; their sums in Documentation/tests.md.'
	@echo '                    RESULTS="FILE...": with the results of these KTAP files'
	@echo '  make prove        decoders, encoders and credits have no run-time error, and what'
	@echo '                    short messages mean: proofs by Frama-C and CBMC; minutes'
	@echo '  make models       version, credits, properties and RPCs of both sides, in every'
	@echo '                    state that can be reached, checked by SPIN; three minutes'
	@echo '  make fuzz         decoders, then the whole module in a guest, guided by coverage;'
	@echo '                    MINUTES= of each ($(MINUTES))'
	@echo '  make bench        cost of an operation on Linux 6.12 and 7.3, compared with'
	@echo '                    version 1 and TCP; with full preemption, with NFSv3, on an'
	@echo '                    adapter, with and without the policy for buffer sizes, and'
	@echo '                    memory. An hour; fails at the end if a target is missed.'
	@echo '                    BENCH="--connections 1,10,100": one run of tests/bench/run with'
	@echo '                    these options; BENCH=--recovery, BENCH=--help'
	@echo
	@echo '  make lint         checkpatch, sparse, W=1, kernel-doc, spelling'
	@echo '  make clean        remove files built from this checkout'
