# SPDX-License-Identifier: GPL-2.0
#
# make help says what there is. Everything is built in the cache, nothing but
# rpcrdma2.ko is left in the checkout.

KVER	?= $(shell uname -r)
FLAVOURS ?= unit uml,uml-debug+qemu,pair+fuzz,spec,wireshark,qemu-hw,build
TESTS	?= all

# What may race, on a kernel with four CPUs, preemption, KASAN and lockdep
RACES	?= 38-teardown 34-removal 32-unload 36-callbacks 37-memory 30-cancel \
	   33-inject

# What a device has a say in, with each adapter of tests/guest/lib/profiles
HW	?= 60-smoke 36-callbacks 34-removal 30-cancel 31-reconnect \
	   41-property-change 42-krb5

# With KCSAN: what many CPUs do at once, and what is read without locks
KCSAN	?= 23-parallel 41-property-change 38-teardown 36-callbacks 30-cancel \
	   31-reconnect 32-unload

export JOBS

.PHONY: all module install nfs-modules demo check check-races check-hw \
	check-kernels check-hostile check-kcsan check-arm64 bench lint help clean

all: module

module:
	@scripts/make-module build "$(KDIR)"

install:
	@scripts/make-module install "$(KDIR)"

nfs-modules:
	@scripts/nfs/install-nfs-modules.sh --kernel "$(KVER)"

demo:
	@scripts/setup-packages.sh
	@scripts/demo

check:
	@scripts/setup-packages.sh
	@scripts/check --flavours "$(FLAVOURS)" --tests "$(TESTS)"

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
	@scripts/lab/run uml --param hostile_seconds=600 53-hostile

check-kcsan:
	@scripts/setup-packages.sh
	@scripts/lab/run qemu-kcsan $(KCSAN)

check-arm64:
	@scripts/setup-packages.sh --arm64
	@scripts/lab/run arm64 60-smoke

bench:
	@scripts/setup-packages.sh
	@scripts/bench --strict
	@scripts/bench --policy

lint:
	@scripts/setup-packages.sh
	@scripts/lint

clean:
	@rm -f rpcrdma2.ko
	@scripts/make-module clean

help:
	@echo 'For a real machine:'
	@echo '  make              build rpcrdma2.ko for the running kernel, or for the'
	@echo '                    one whose headers are in KDIR=; copied to ./rpcrdma2.ko.'
	@echo '                    FORCE=1 tries a kernel that is not supported'
	@echo '  make install      put it into /lib/modules/RELEASE/updates (or below'
	@echo '                    INSTALL_MOD_PATH=) and run depmod'
	@echo '  make nfs-modules  build and install the NFS client modules that know'
	@echo '                    the mount option rdmaver=, for kernel KVER='
	@echo
	@echo 'In virtual machines (they install Debian packages that are missing):'
	@echo '  make demo         NFS over RPC-over-RDMA version 2, before your eyes'
	@echo '  make check        all tests'
	@echo '                    FLAVOURS="$(FLAVOURS)", TESTS="10-io-sizes ..."'
	@echo '  make check-races  the tests of races, on a debug kernel with four CPUs;'
	@echo '                    minutes, not part of make check. RACES="..."'
	@echo '  make check-hw     tests with a stand-in for adapters, with the limits of each;'
	@echo '                    minutes, not part of make check. HW="..."'
	@echo '  make check-kernels  the module on every supported kernel; gets them from'
	@echo '                    Debian. KERNELS="..." of scripts/kernels.txt'
	@echo '  make check-hostile  ten minutes of honest mounts beside hostile clients'
	@echo '  make check-kcsan  on a kernel that watches for data races; also minutes'
	@echo '  make check-arm64  a little of everything on an emulated arm64'
	@echo '  make bench        what an operation costs: against version 1 and TCP; with'
	@echo '                    the policy for buffer sizes and without, and its memory'
	@echo '  scripts/lab/run   single tests; see scripts/lab/README'
	@echo
	@echo '  make lint         checkpatch, sparse, W=1, kernel-doc, spelling'
	@echo '  make clean        remove what was built from this checkout'
