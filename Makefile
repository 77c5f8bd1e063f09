# SPDX-License-Identifier: GPL-2.0
#
# make help lists the targets. Builds go into the cache; only rpcrdma2.ko is
# copied to the checkout.

PREFIX	?= /usr/local
DIST	?= dist
SERIES	?= dist/series

# What may race, on a kernel with four CPUs, preemption, KASAN and lockdep
RACES	?= conn-teardown conn-removal module-unload rpc-callbacks memory-scarce rpc-cancel \
	   module-inject

# What a device has a say in, with each adapter of tests/guest/lib/profiles
HW	?= fs-smoke rpc-callbacks conn-removal rpc-cancel conn-reconnect \
	   props-change gss-krb5

# With KCSAN: what many CPUs do at once, and what is read without locks
KCSAN	?= module-race fs-parallel props-change conn-teardown rpc-callbacks rpc-cancel \
	   conn-reconnect module-unload

# Where DESTDIR is, there the modules go as well, unless that is said.
export KVER KDIR DESTDIR INSTALL_MOD_PATH FORCE SOURCE JOBS

.PHONY: all module install uninstall nfs-modules nfs-modules-uninstall \
	install-tools uninstall-tools dist deb demo check check-races check-hw \
	check-kernels check-hostile check-thousand check-pressure check-kcsan check-arm64 \
	check-collectors check-conform check-deb check-faults check-series \
	check-kselftest kselftest mutants prove check-prove-faults models series \
	bench lint help clean

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

demo:
	@scripts/setup-packages.sh
	@scripts/demo

check:
	@scripts/setup-packages.sh
	@scripts/check $(if $(FLAVOURS),--flavours "$(FLAVOURS)") \
		$(if $(TESTS),--tests "$(TESTS)")

check-races:
	@scripts/setup-packages.sh
	@scripts/lab/run qemu-debug $(RACES)

check-hw:
	@scripts/setup-packages.sh
	@scripts/lab/run qemu-hw --profile all $(HW)

check-kernels:
	@scripts/setup-packages.sh
	@scripts/check-kernels $(KERNELS)

check-hostile:
	@scripts/setup-packages.sh
	@scripts/lab/run uml --param hostile_seconds=600 raw-hostile

check-thousand:
	@scripts/setup-packages.sh
	@scripts/lab/run qemu --mem 4G --param thousand_clients=1000 \
		--param thousand_seconds=600 conn-thousand
	@scripts/lab/run counted --mem 4G --param thousand_clients=1000 conn-lease

check-pressure:
	@scripts/setup-packages.sh
	@scripts/lab/pair qemu --param pressure_seconds=120 pressure

check-kcsan:
	@scripts/setup-packages.sh
	@scripts/lab/run qemu-kcsan $(KCSAN)

check-collectors:
	@scripts/setup-packages.sh
	@tests/tools/collectors

check-conform:
	@scripts/setup-packages.sh
	@scripts/check-conform

check-faults:
	@scripts/setup-packages.sh
	@scripts/check-faults $(FAULTS)

check-arm64:
	@scripts/setup-packages.sh --arm64
	@scripts/lab/run arm64 fs-smoke

check-deb:
	@scripts/setup-packages.sh
	@scripts/check-deb

check-kselftest:
	@scripts/setup-packages.sh --kselftest
	@scripts/check-kselftest

kselftest:
	@scripts/setup-packages.sh --kselftest
	@scripts/kselftest "$(DIST)"

mutants:
	@scripts/setup-packages.sh
	@tests/mutants/run $(MUTANTS)

prove:
	@scripts/setup-packages.sh --prove
	@tests/prove/prove $(PROVE)

check-prove-faults:
	@scripts/setup-packages.sh --prove
	@tests/prove/prove --faults

models:
	@scripts/setup-packages.sh --models
	@tests/models/run $(MODELS)

series:
	@scripts/setup-packages.sh --series
	@scripts/series "$(KTREE)" "$(SERIES)" $(OBJECTS)

check-series:
	@scripts/setup-packages.sh --series
	@scripts/check-series $(KERNELS)

bench:
	@scripts/setup-packages.sh
ifdef BENCH
	@scripts/bench $(BENCH)
else
	@rc=0; \
	scripts/bench --strict || rc=1; \
	scripts/bench --kernel 7.3-debian13 --strict || rc=1; \
	scripts/bench --kernel 7.3-debian13 --preempt full || rc=1; \
	scripts/bench --vers 3 || rc=1; \
	scripts/bench --kernel 7.3-debian13 --vers 3 || rc=1; \
	scripts/bench --floor || rc=1; \
	scripts/bench --floor --kernel 7.3-debian13 || rc=1; \
	scripts/bench --policy || rc=1; \
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
	@echo '  make kselftest    tests for machines without the lab, as a tarball with the'
	@echo '                    run_kselftest.sh of the kernel, in DIST=$(DIST)'
	@echo '  make series KTREE=  patches for this kernel source, in SERIES=$(SERIES);'
	@echo '                    OBJECTS= directory of a prepared build, unless the kernel'
	@echo '                    is the newest'
	@echo
	@echo 'In virtual machines (installs missing Debian packages):'
	@echo '  make demo         show NFS over RPC-over-RDMA version 2'
	@echo '  make check        run all tests'
	@echo '                    FLAVOURS="uml ...", TESTS="fs-io-sizes ..."'
	@echo '  scripts/lab/run   run single tests; see scripts/lab/README'
	@echo
	@echo 'More tests, not part of make check:'
	@echo '  make check-races  tests of races, on a debug kernel with four CPUs;'
	@echo '                    minutes. RACES="..."'
	@echo '  make check-hw     tests with a stand-in for adapters, with the limits of each;'
	@echo '                    minutes. HW="..."'
	@echo '  make check-kernels  the module on every supported kernel, from Debian.'
	@echo '                    KERNELS="..." of scripts/kernels.txt'
	@echo '  make check-hostile  ten minutes of honest mounts beside hostile clients'
	@echo '  make check-thousand  a thousand clients of one server, ten minutes of work,'
	@echo '                    a restart; twenty minutes'
	@echo '  make check-pressure  swap on a mount, with little memory; ten minutes'
	@echo '  make check-kcsan  tests on a kernel that detects data races; minutes'
	@echo '  make check-deb    the packages on a Debian system, from installation to'
	@echo '                    purge; half an hour'
	@echo '  make check-conform  the conformance kit, against deliberate faults, against'
	@echo '                    conforming peers, and against server and client on another'
	@echo '                    machine; 25 minutes'
	@echo '  make check-faults  would the tests notice the vulnerabilities of others? The'
	@echo '                    module with each of tests/faults; half an hour.'
	@echo '                    FAULTS="CVE-2026-89526 ..."'
	@echo '  make check-collectors  nfs-utils, Prometheus and its node exporter read the'
	@echo '                    statistics of mounts and of the command; from Debian 13'
	@echo '  make check-series  the patches of make series, one by one, on the source of two'
	@echo '                    kernels, built and booted; half an hour'
	@echo '  make check-kselftest  the tests of make kselftest, on a Debian system without'
	@echo '                    the lab; half an hour'
	@echo '  make check-arm64  a small selection on an emulated arm64'
	@echo '  make mutants      do the tests detect small faults? Takes hours; continues'
	@echo '                    after an interruption. MUTANTS="unit", "guest --minutes 30"'
	@echo '  make prove        decoders, encoders and credits have no run-time error: a proof'
	@echo '                    by Frama-C; minutes. PROVE="FUNCTION ..."'
	@echo '  make check-prove-faults  does the proof fail when a bound is weakened? Minutes'
	@echo '  make models       credits and Receives of both sides, in every state that can be'
	@echo '                    reached, checked by SPIN; a minute'
	@echo '  make bench        cost of an operation on Linux 6.12 and 7.3, compared with'
	@echo '                    version 1 and TCP; with full preemption, with NFSv3, the share'
	@echo '                    of this module, with and without the policy for buffer sizes,'
	@echo '                    and memory. An hour; fails at the end if a target is missed.'
	@echo '                    BENCH="--connections 1,10,100": one run of scripts/bench with'
	@echo '                    these options; BENCH=--recovery, BENCH=--help'
	@echo
	@echo '  make lint         checkpatch, sparse, W=1, kernel-doc, spelling'
	@echo '  make clean        remove files built from this checkout'
