// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for nvidia-fs and a GPU. /dev/rpcrdma2_gpu has areas of 4 MiB. Programs use the
 * first half of an area as a buffer for I/O, and never touch these pages, the placeholders.
 * The second half is the memory that they stand for, in other pages. Placeholders have a
 * pattern: who copies from one transfers the pattern, who copies to one destroys it, which
 * is found when the page is unmapped.
 *
 * Parameters: "registered" registers and unregisters the operations, by the names that
 * nvidia-fs looks up; "fail" is the number of mappings that fail from now on. The others are
 * counters of pages: "mapped" now, "maps" and "unmaps" so far, "touched" with a destroyed
 * pattern, and "strange", unmapped without being mapped.
 */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/delay.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>

#define GPU_AREAS	4
#define GPU_ORDER	9
#define GPU_PAGES	BIT(GPU_ORDER)
#define GPU_PATTERN	0xdb
/* All that nvidia-fs has, and that software devices are supported */
#define GPU_FEATURES	(0x1f | 1ULL << 63)
#define GPU_IO_ERROR	(-1)
#define GPU_NOT_MINE	(-2)

struct nvfs_dma_rw_ops {
	unsigned long long features;
	void *fill;
	int (*map)(struct device *device, struct scatterlist *sgl, int nents,
		   enum dma_data_direction dir, unsigned long attrs);
	int (*unmap)(struct device *device, struct scatterlist *sgl, int nents,
		     enum dma_data_direction dir);
	bool (*claims)(struct page *page);
	void *more[3];
};

static struct gpu_area {
	struct page	*placeholders;
	struct page	*memory;
	atomic_t	mapped[GPU_PAGES];
} areas[GPU_AREAS];

static atomic_t fail, mapped, maps, unmaps, touched, strange;
static bool registered;
static int (*nvfs_register)(struct nvfs_dma_rw_ops *ops);
static void (*nvfs_unregister)(void);

static struct gpu_area *gpu_find(struct page *page, unsigned long *index)
{
	struct gpu_area *a;

	for (a = areas; a < areas + GPU_AREAS; a++) {
		*index = page_to_pfn(page) - page_to_pfn(a->placeholders);
		if (*index < GPU_PAGES)
			return a;
	}
	return NULL;
}

static bool gpu_claims(struct page *page)
{
	unsigned long i;

	return gpu_find(page, &i);
}

static dma_addr_t gpu_address(struct device *device, struct page *page,
			      const struct scatterlist *sg,
			      enum dma_data_direction dir)
{
	/* A software device, for which an address is a pointer */
	if (!device)
		return (uintptr_t)page_address(page) + sg->offset;
	return dma_map_page(device, page, sg->offset, sg->length, dir);
}

/* All or nothing; the memory of a real one may have to be waited for. */
static int gpu_map(struct device *device, struct scatterlist *sgl, int nents,
		   enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	struct gpu_area *a;
	unsigned long page;
	int i, mine = 0;

	might_sleep();
	for_each_sg(sgl, sg, nents, i)
		mine += gpu_claims(sg_page(sg));
	if (!mine)
		return GPU_NOT_MINE;
	if (mine != nents || atomic_dec_if_positive(&fail) >= 0)
		return GPU_IO_ERROR;
	if (!(atomic_read(&maps) & 15))
		usleep_range(1000, 2000);
	for_each_sg(sgl, sg, nents, i) {
		a = gpu_find(sg_page(sg), &page);
		atomic_inc(&a->mapped[page]);
		sg_dma_address(sg) = gpu_address(device, a->memory + page, sg, dir);
		sg_dma_len(sg) = sg->length;
	}
	atomic_add(nents, &mapped);
	atomic_add(nents, &maps);
	return nents;
}

static int gpu_unmap(struct device *device, struct scatterlist *sgl, int nents,
		     enum dma_data_direction dir)
{
	struct scatterlist *sg;
	struct gpu_area *a;
	unsigned long page;
	int i;

	for_each_sg(sgl, sg, nents, i) {
		a = gpu_find(sg_page(sg), &page);
		if (!a || atomic_dec_if_positive(&a->mapped[page]) < 0) {
			atomic_inc(&strange);
			continue;
		}
		if (device)
			dma_unmap_page(device, sg_dma_address(sg), sg->length, dir);
		if (memchr_inv(page_address(sg_page(sg)), GPU_PATTERN, PAGE_SIZE))
			atomic_inc(&touched);
		atomic_dec(&mapped);
	}
	atomic_add(nents, &unmaps);
	return nents;
}

static struct nvfs_dma_rw_ops gpu_ops = {
	.features	= GPU_FEATURES,
	.map		= gpu_map,
	.unmap		= gpu_unmap,
	.claims		= gpu_claims,
};

static int gpu_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long at = vma->vm_pgoff, i;
	struct gpu_area *a;
	struct page *page;
	int ret = 0;

	for (i = 0; i < vma_pages(vma) && !ret; i++, at++) {
		if (at >= 2 * GPU_PAGES * GPU_AREAS)
			return -EINVAL;
		a = &areas[at / (2 * GPU_PAGES)];
		page = at & GPU_PAGES ? a->memory : a->placeholders;
		ret = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE,
				     page + at % GPU_PAGES);
	}
	return ret;
}

static const struct file_operations gpu_fops = {
	.owner	= THIS_MODULE,
	.mmap	= gpu_mmap,
};

static struct miscdevice gpu_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "rpcrdma2_gpu",
	.fops	= &gpu_fops,
};

static int gpu_register(void)
{
	int ret = -ENOENT;

	nvfs_register = (void *)__symbol_get("rpcrdma_register_nvfs_dma_ops");
	nvfs_unregister = (void *)__symbol_get("rpcrdma_unregister_nvfs_dma_ops");
	if (nvfs_register && nvfs_unregister)
		ret = nvfs_register(&gpu_ops);
	registered = !ret;
	return ret;
}

static void gpu_put(void)
{
	if (nvfs_register)
		__symbol_put("rpcrdma_register_nvfs_dma_ops");
	if (nvfs_unregister)
		__symbol_put("rpcrdma_unregister_nvfs_dma_ops");
	nvfs_register = NULL;
	nvfs_unregister = NULL;
}

static void gpu_unregister(void)
{
	if (registered)
		nvfs_unregister();
	registered = false;
	gpu_put();
}

static int registered_set(const char *val, const struct kernel_param *kp)
{
	bool want;
	int ret = kstrtobool(val, &want);

	if (ret || want == registered)
		return ret;
	if (!want)
		gpu_unregister();
	else
		ret = gpu_register();
	if (ret)
		gpu_put();
	return ret;
}

static const struct kernel_param_ops registered_ops = {
	.set	= registered_set,
	.get	= param_get_bool,
};
module_param_cb(registered, &registered_ops, &registered, 0644);
module_param_named(fail, fail.counter, int, 0644);
module_param_named(mapped, mapped.counter, int, 0444);
module_param_named(maps, maps.counter, int, 0444);
module_param_named(unmaps, unmaps.counter, int, 0444);
module_param_named(touched, touched.counter, int, 0444);
module_param_named(strange, strange.counter, int, 0444);

static struct page *gpu_alloc(u8 pattern)
{
	struct page *page = alloc_pages(GFP_KERNEL, GPU_ORDER);

	if (!page)
		return NULL;
	split_page(page, GPU_ORDER);
	memset(page_address(page), pattern, GPU_PAGES * PAGE_SIZE);
	return page;
}

static void gpu_free(struct page *page)
{
	unsigned int i;

	for (i = 0; page && i < GPU_PAGES; i++)
		__free_page(page + i);
}

static void gpu_free_all(void)
{
	struct gpu_area *a;

	for (a = areas; a < areas + GPU_AREAS; a++) {
		gpu_free(a->placeholders);
		gpu_free(a->memory);
	}
}

static int __init gpu_init(void)
{
	struct gpu_area *a;

	for (a = areas; a < areas + GPU_AREAS; a++) {
		a->placeholders = gpu_alloc(GPU_PATTERN);
		a->memory = gpu_alloc(0);
		if (!a->placeholders || !a->memory) {
			gpu_free_all();
			return -ENOMEM;
		}
	}
	return misc_register(&gpu_device);
}

static void __exit gpu_exit(void)
{
	gpu_unregister();
	misc_deregister(&gpu_device);
	gpu_free_all();
}

module_init(gpu_init);
module_exit(gpu_exit);
MODULE_DESCRIPTION("Stand-in for nvidia-fs, for tests of rpcrdma2");
MODULE_LICENSE("GPL");
