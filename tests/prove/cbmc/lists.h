/* SPDX-License-Identifier: GPL-2.0 */
/* What chunk lists and errors mean, as in the XDR of the protocol */

static u32 lists_first, lists_handle;	/* first word of the lists, and rdma_inv_handle */
static bool lists_ok, reply_used;
static u32 reads_end, lists_end;	/* the words behind the Read list and all lists */
static u32 most_reads;			/* segments of the largest Read chunk */

/* An automaton that reads word after word of a message of @len bytes. It fills @h, and
 * returns false if the lists are malformed (CHK-1 to CHK-12, CHK-25).
 */
static bool read_lists(u32 len, struct rpcrdma2_hdr *h)
{
	enum { READ_LIST, WRITE_LIST, REPLY_CHUNK, NO_MORE, FAULT } list = READ_LIST;
	enum { MORE, HEAD, HANDLE, LENGTH, HIGH, LOW } part = MORE;
	u32 position[WORDS / 6 + 1], left = 0, length = 0, high = 0;
	u32 i, j, w, same;
	const u8 *entry;

	for (i = lists_first; i < WORDS && list < NO_MORE && 4 * i + 4 <= len; i++) {
		w = words[i];
		switch (part) {
		case MORE:
			part = w ? HEAD : MORE;
			list = w > 1 ? FAULT : w ? list : list + 1;
			if (!w && list == WRITE_LIST)
				reads_end = i + 1;
			break;
		case HEAD:
			left = list == READ_LIST ? 1 : w;
			entry = room + 4 * (i - 1);
			if (list == READ_LIST) {
				h->read_list = h->read_segs ? h->read_list : entry;
				position[h->read_segs++] = w;
				list = w % 4 ? FAULT : list;
			} else if (list == WRITE_LIST) {
				h->write_list = h->write_chunks++ ? h->write_list : entry;
			} else {
				h->reply_chunk = room + 4 * i;
			}
			if (list != READ_LIST)
				h->max_segs = max(h->max_segs, left);
			part = HANDLE;
			break;
		case HANDLE:
			h->only_handle = !h->has_segs || h->only_handle == w ? w : 0;
			h->has_segs = true;
			h->has_inv_handle |= w == lists_handle;
			part = LENGTH;
			break;
		case LENGTH:
			length = w;
			reply_used |= list == REPLY_CHUNK && w;
			part = HIGH;
			break;
		case HIGH:
			high = w;
			part = LOW;
			break;
		case LOW:
			/* The last byte has an address. */
			list = length && high == ~0U && w + (length - 1) < w ? FAULT : list;
			left--;
			part = HANDLE;
			break;
		}
		if (part == HANDLE && !left) {
			part = MORE;
			list = list == REPLY_CHUNK ? NO_MORE : list;
		}
	}
	lists_end = i;
	h->results_len = 4 * (i - reads_end) - 8;
	/* Read segments of one Position are one chunk (CHK-11). */
	for (i = 0; i < WORDS / 6 && i < h->read_segs; i++) {
		for (same = 1, j = 0; j < i; j++)
			same += position[j] == position[i];
		most_reads = max(most_reads, same);
		h->read_chunks += same == 1 && position[i];
		h->has_pz |= !position[i];
	}
	h->max_segs = max(h->max_segs, most_reads);
	return list == NO_MORE;
}

/* Arguments of an error of version 2 */
static u32 error_args(u32 err)
{
	static const u32 args[] = { 0, 2, 0, 0, 1, 1, 1, 2, 1, 0 };

	return err < 10 ? args[err] : 0;
}
