// SPDX-License-Identifier: GPL-2.0
/*
 * rpcrdma2_nvfs: the two functions by which NVIDIA's driver nvidia-fs finds NFS over RDMA,
 * for GPUDirect Storage. The driver looks them up by name and does not care which module
 * has them. The stock module of some vendors has them, too, and two modules cannot export
 * the same name. So this is a module of its own, for replace=1: neither the stock module
 * nor rpcrdma2 beside it is affected.
 */
#include <linux/module.h>

#include "requester/devmem.h"

static bool registered;
module_param(registered, bool, 0444);
MODULE_PARM_DESC(registered, "nvidia-fs has registered its operations (read only)");

/**
 * rpcrdma_register_nvfs_dma_ops - register the operations of nvidia-fs
 * @ops: the operations; they exist until rpcrdma_unregister_nvfs_dma_ops()
 *
 * Context: sleeps. The driver calls one of the two functions at a time.
 * Return: 0; -EOPNOTSUPP: the operations lack a feature; or -EBUSY: there are others
 */
int rpcrdma_register_nvfs_dma_ops(struct nvfs_dma_rw_ops *ops)
{
	int ret = rpcrdma2_devmem_ops_set(ops);

	if (ret)
		pr_err_ratelimited("rpcrdma2_nvfs: operations of nvidia-fs refused: %d\n", ret);
	else
		registered = true;
	return ret;
}
EXPORT_SYMBOL_GPL(rpcrdma_register_nvfs_dma_ops);

/**
 * rpcrdma_unregister_nvfs_dma_ops - unregister the operations
 *
 * Context: sleeps until no memory is mapped by them.
 */
void rpcrdma_unregister_nvfs_dma_ops(void)
{
	rpcrdma2_devmem_ops_clear();
	registered = false;
}
EXPORT_SYMBOL_GPL(rpcrdma_unregister_nvfs_dma_ops);

static int __init rpcrdma2_nvfs_init(void)
{
	registered = false;
	if (rpcrdma2_module_replaces())
		return 0;
	pr_err("rpcrdma2_nvfs: needs rpcrdma2 with replace=1, in the place of the stock module\n");
	return -ENODEV;
}

static void __exit rpcrdma2_nvfs_exit(void)
{
}

module_init(rpcrdma2_nvfs_init);
module_exit(rpcrdma2_nvfs_exit);
MODULE_DESCRIPTION("GPUDirect Storage for RPC-over-RDMA by rpcrdma2");
MODULE_LICENSE("GPL");
