/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Payload in the memory of a device, which the CPU must not copy; see devmem.c.
 */
#ifndef _RPCRDMA2_DEVMEM_H
#define _RPCRDMA2_DEVMEM_H

#include <linux/jump_label.h>
#include <linux/memremap.h>

#include "conn/inject.h"
#include "requester/rpc_slot.h"

struct request;
struct request_queue;

bool rpcrdma2_devmem_pages(const struct rpcrdma2_part *part);
int rpcrdma2_devmem_refuse(void);

static inline bool rpcrdma2_devmem_is_p2pdma(const struct page *page)
{
	return is_pci_p2pdma_page(page) || rpcrdma2_pretend(p2pdma);
}

/* Whether arguments or results of an RPC have a payload that the CPU must not copy */
static inline bool rpcrdma2_devmem_payload(const struct rpcrdma2_part *part)
{
	return part->buf->page_len && rpcrdma2_devmem_pages(part);
}

int rpcrdma2_devmem_map(struct rpcrdma2_mr *mr);
void rpcrdma2_devmem_unmap(struct rpcrdma2_mr *mr);
void rpcrdma2_devmem_claim(struct rpcrdma2_part *part);

/* Only a module outside the kernel's tree registers operations. */
#ifdef RPCRDMA2_PROBES
/**
 * struct nvfs_dma_rw_ops - operations of the driver nvidia-fs, a fixed layout
 * @features: sum of the features that the driver has
 * @fill: fill a scatterlist from a block request; not used here
 * @map: set the DMA addresses of a scatterlist, whose pages are all claimed. May sleep.
 *	Returns the number of entries, or a negative number
 * @unmap: reverse of @map. Does not sleep
 * @claims: check whether a page stands for memory of a GPU. Does not sleep
 *
 * Other members follow. Kernels that check the types of indirect calls (CONFIG_CFI_CLANG)
 * know the structure by this name.
 */
struct nvfs_dma_rw_ops {
	unsigned long long features;
	int (*fill)(struct request_queue *queue, struct request *request,
		    struct scatterlist *sgl);
	int (*map)(struct device *device, struct scatterlist *sgl, int nents,
		   enum dma_data_direction dir, unsigned long attrs);
	int (*unmap)(struct device *device, struct scatterlist *sgl, int nents,
		     enum dma_data_direction dir);
	bool (*claims)(struct page *page);
};

/* Features without which the operations cannot be used here */
#define RPCRDMA2_NVFS_MAP	BIT(1)	/* @map and @unmap */
#define RPCRDMA2_NVFS_CLAIMS	BIT(2)	/* @claims */

/* Not one of nvidia-fs: @map and @unmap take NULL for a device that is software */
#define RPCRDMA2_NVFS_SOFTWARE	BIT_ULL(63)

/* The names that nvidia-fs looks up; see nvfs.c */
int rpcrdma_register_nvfs_dma_ops(struct nvfs_dma_rw_ops *ops);
void rpcrdma_unregister_nvfs_dma_ops(void);

/* In module.c */
bool rpcrdma2_module_replaces(void);

int rpcrdma2_devmem_ops_set(const struct nvfs_dma_rw_ops *ops);
void rpcrdma2_devmem_ops_clear(void);

DECLARE_STATIC_KEY_FALSE(rpcrdma2_devmem_ops_seen);
#define rpcrdma2_devmem_has_ops()	static_branch_unlikely(&rpcrdma2_devmem_ops_seen)
#else
#define rpcrdma2_devmem_has_ops()	false
#endif

#endif /* _RPCRDMA2_DEVMEM_H */
