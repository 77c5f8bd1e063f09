// SPDX-License-Identifier: GPL-2.0
/*
 * Payload in the memory of a device, which the CPU must not copy. Such payload goes in a
 * Read or Write chunk, whatever its length; an RPC that cannot have this chunk fails.
 *
 * P2PDMA is memory of a PCI device that has pages. The kernel knows and maps these pages.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "requester/devmem.h"

static struct page **part_pages(const struct rpcrdma2_part *part)
{
	return part->buf->pages + (part->buf->page_base >> PAGE_SHIFT);
}

#ifdef RPCRDMA2_PROBES
/* GPUDirect Storage: ordinary pages stand for the memory of a GPU. Only NVIDIA's driver
 * nvidia-fs knows which pages these are. The driver registers operations that recognise
 * and map them. If such a page is copied, or mapped by the kernel, wrong data are
 * transferred without an error. So a payload of which a page was claimed once is never sent
 * without the operations.
 *
 * The operations are in use while nvfs_users is not 0. The registration is one user, each
 * call of an operation another, each MR that is mapped one more.
 */

/* Operations have been registered since the module was loaded. */
DEFINE_STATIC_KEY_FALSE(rpcrdma2_devmem_ops_seen);

static const struct nvfs_dma_rw_ops *nvfs;
static atomic_t nvfs_users;
static bool nvfs_closing;

static bool nvfs_get(void)
{
	return atomic_inc_not_zero(&nvfs_users);
}

static void nvfs_put(void)
{
	if (atomic_dec_and_test(&nvfs_users))
		wake_up_var(&nvfs_users);
}

/**
 * rpcrdma2_devmem_ops_set - begin to use the operations of nvidia-fs
 * @ops: the operations; they exist until rpcrdma2_devmem_ops_clear()
 *
 * Context: sleeps. The caller serialises this and rpcrdma2_devmem_ops_clear().
 * Return: 0; -EOPNOTSUPP: the operations lack a feature; or -EBUSY: there are others
 */
int rpcrdma2_devmem_ops_set(const struct nvfs_dma_rw_ops *ops)
{
	u64 needed = RPCRDMA2_NVFS_MAP | RPCRDMA2_NVFS_CLAIMS;

	if ((ops->features & needed) != needed)
		return -EOPNOTSUPP;
	if (atomic_read(&nvfs_users))
		return -EBUSY;
	nvfs = ops;
	WRITE_ONCE(nvfs_closing, false);
	static_branch_enable(&rpcrdma2_devmem_ops_seen);
	atomic_set_release(&nvfs_users, 1);
	return 0;
}
EXPORT_SYMBOL_GPL(rpcrdma2_devmem_ops_set);

/**
 * rpcrdma2_devmem_ops_clear - stop using the operations
 *
 * From now on RPCs with claimed pages fail. Waits for the RPCs whose memory is mapped,
 * so for as long as their server takes.
 *
 * Context: sleeps.
 */
void rpcrdma2_devmem_ops_clear(void)
{
	if (!atomic_read(&nvfs_users))
		return;
	WRITE_ONCE(nvfs_closing, true);
	nvfs_put();
	wait_var_event(&nvfs_users, !atomic_read(&nvfs_users));
}
EXPORT_SYMBOL_GPL(rpcrdma2_devmem_ops_clear);

static struct device *mr_device(const struct rpcrdma2_mr *mr)
{
	return mr->pool->conn->cm_id->device->dma_device;
}

/**
 * rpcrdma2_devmem_map - map an MR whose pages stand for the memory of a GPU
 * @mr: an MR in state FREE, with a filled scatterlist, for a payload of which the driver
 *	has claimed a page
 *
 * The driver may sleep for the first mapping of a buffer, and completion handlers must
 * not. So only the pool's work maps such memory, outside of completion handlers.
 *
 * Context: process; sleeps in the pool's work only.
 * Return: number of entries mapped; -EAGAIN: not in this context; or -EIO: not all pages
 * are claimed, the driver refuses to map them, or has gone, or the RDMA device is software.
 */
int rpcrdma2_devmem_map(struct rpcrdma2_mr *mr)
{
	unsigned int i, pages = 0;
	struct scatterlist *sg;
	int ret = 0;

	if (current_work() != &mr->pool->refill.work)
		return -EAGAIN;
	if (!nvfs_get())
		return -EIO;
	for_each_sg(mr->sgt.sgl, sg, mr->nents, i)
		pages += nvfs->claims(sg_page(sg));
	if (pages == mr->nents && !READ_ONCE(nvfs_closing) &&
	    (mr_device(mr) || nvfs->features & RPCRDMA2_NVFS_SOFTWARE))
		ret = nvfs->map(mr_device(mr), mr->sgt.sgl, mr->nents, mr->dir,
				DMA_ATTR_NO_WARN);
	mr->devmem = ret > 0;
	if (mr->devmem)
		return ret;
	nvfs_put();
	return -EIO;
}

/**
 * rpcrdma2_devmem_unmap - unmap an MR that the operations have mapped
 * @mr: the MR
 *
 * Context: any.
 */
void rpcrdma2_devmem_unmap(struct rpcrdma2_mr *mr)
{
	nvfs->unmap(mr_device(mr), mr->sgt.sgl, mr->nents, mr->dir);
	mr->devmem = false;
	nvfs_put();
}

/**
 * rpcrdma2_devmem_claim - record whether the driver claims a page of a payload
 * @part: arguments or results of an RPC; @part->devmem is set, or stays
 *
 * Context: any; does not sleep.
 */
void rpcrdma2_devmem_claim(struct rpcrdma2_part *part)
{
	struct page **page = part_pages(part);
	u32 n = rpcrdma2_vector_pages(part->buf);

	if (!nvfs_get())
		return;
	for (; n && !part->devmem; n--)
		part->devmem = nvfs->claims(*page++);
	nvfs_put();
}
#endif /* RPCRDMA2_PROBES */

/**
 * rpcrdma2_devmem_pages - check whether the CPU must not copy a payload
 * @part: arguments or results of an RPC, with pages
 *
 * Context: any; does not sleep.
 * Return: true if a page is memory of a device, or stands for some
 */
bool rpcrdma2_devmem_pages(const struct rpcrdma2_part *part)
{
	struct page **pages = part_pages(part);
	u32 i, n = rpcrdma2_vector_pages(part->buf);

	for (i = 0; i < n && !part->devmem; i++)
		if (rpcrdma2_devmem_is_p2pdma(pages[i]))
			return true;
	return part->devmem;
}

/**
 * rpcrdma2_devmem_refuse - say that an RPC cannot have the chunk that its payload needs
 *
 * Context: any.
 * Return: -EIO
 */
int rpcrdma2_devmem_refuse(void)
{
	pr_warn_ratelimited("rpcrdma2: an RPC with memory of a GPU or another device failed: such memory is never copied, and sec=krb5i, sec=krb5p or the server do not allow a chunk for it\n");
	return -EIO;
}
