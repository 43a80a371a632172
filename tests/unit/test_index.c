// SPDX-License-Identifier: GPL-2.0-or-later
// Both indexes: the bytes of revision 0 as Subversion writes them, page
// borders, and that no damaged index is taken for a whole one.

#include "formats/fsfs/index.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

// Revision 0 of a repository of format 7 or 8.
static const unsigned char l2p_r0[] = {
	'L',  '2',  'P',  '-',  'I',  'N',  'D',  'E',  'X',  '\n', 0x00, 0x80,
	0x40, 0x01, 0x01, 0x01, 0x06, 0x04, 0x00, 0xd6, 0x01, 0xb1, 0x01, 0x21};
static const unsigned char p2l_r0[] = {
	'P',  '2',  'L',  '-',  'I',  'N',  'D',  'E',  'X',  '\n', 0x00, 0x6b,
	0x80, 0x80, 0x40, 0x01, 0x1f, 0x00, 0x11, 0x34, 0x00, 0xf5, 0xd6, 0x8c,
	0x81, 0x06, 0x59, 0x09, 0x00, 0xc8, 0xfc, 0xf6, 0x81, 0x04, 0x01, 0x0d,
	0x00, 0x9d, 0x9e, 0xa9, 0x94, 0x0f, 0x95, 0xff, 0x3f, 0x1b, 0x00, 0x00};

static void revision_0_is_understood(void **state)
{
	struct fm_source s;
	struct fsfs_p2l p2l;
	struct fsfs_l2p l2p;
	struct fm_arena out;
	struct fm_err err;

	(void)state;
	fm_arena_init(&out);
	fm_source_memory(&s, p2l_r0, sizeof(p2l_r0));
	assert_int_equal(fsfs_p2l_decode(&s, &out, &p2l, &err), 0);
	assert_int_equal(p2l.first, 0);
	assert_int_equal(p2l.size, 107);
	assert_int_equal(p2l.n, 3);
	assert_int_equal(p2l.items[0].type, FSFS_ITEM_DIR_REP);
	assert_int_equal(p2l.items[0].fnv, 0x60232b75);
	assert_int_equal(p2l.items[1].type, FSFS_ITEM_NODEREV);
	assert_int_equal(p2l.items[1].number, FSFS_ITEM_IS_ROOT);
	assert_int_equal(p2l.items[2].type, FSFS_ITEM_CHANGES);
	assert_int_equal(p2l.items[2].offset, 106);
	fm_source_memory(&s, l2p_r0, sizeof(l2p_r0));
	assert_int_equal(fsfs_l2p_decode(&s, &out, &l2p, &err), 0);
	assert_int_equal(l2p.n, 1);
	assert_int_equal(l2p.revisions[0].n, 4);
	assert_int_equal(l2p.revisions[0].place[0], 0);
	assert_int_equal(l2p.revisions[0].place[1], 107);
	assert_int_equal(l2p.revisions[0].place[2], 18);
	assert_int_equal(l2p.revisions[0].place[3], 1);
	fm_arena_release(&out);
}

static void revision_0_is_written_alike(void **state)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_source s;
	struct fsfs_p2l p2l;
	struct fsfs_l2p l2p;
	struct fm_arena out;
	struct fm_err err;

	(void)state;
	fm_arena_init(&out);
	fm_source_memory(&s, p2l_r0, sizeof(p2l_r0));
	assert_int_equal(fsfs_p2l_decode(&s, &out, &p2l, &err), 0);
	fsfs_p2l_encode(&p2l, &b);
	assert_int_equal(b.len, sizeof(p2l_r0));
	assert_memory_equal(b.data, p2l_r0, sizeof(p2l_r0));
	fm_buf_clear(&b);
	assert_int_equal(
		fsfs_l2p_from_p2l(&p2l, 1, FSFS_L2P_PAGE, &out, &l2p, &err), 0);
	fsfs_l2p_encode(&l2p, &b);
	assert_int_equal(b.len, sizeof(l2p_r0));
	assert_memory_equal(b.data, l2p_r0, sizeof(l2p_r0));
	fm_buf_release(&b);
	fm_arena_release(&out);
}

// Items of all sizes around small pages, and several revisions.
static void any_index_survives(void **state)
{
	enum { ITEMS = 300 };

	(void)state;
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct fsfs_item items[ITEMS];
		struct fsfs_p2l p2l = {.first = 1000 * seed,
				       .page_size = 1U << (seed % 9 + 4),
				       .items = items,
				       .n = ITEMS},
				again;
		struct fm_buf b = FM_BUF_INIT;
		struct fm_source s;
		struct fsfs_l2p l2p, l2p_again;
		struct fm_arena out;
		struct fm_err err;
		uint64_t next[3] = {1, 1, 1};

		srandom(seed);
		fm_arena_init(&out);
		memset(items, 0, sizeof(items));
		for (size_t i = 0; i < ITEMS; i++) {
			size_t rev = (size_t)random() % 3;

			items[i].offset = p2l.size;
			items[i].size =
				1 + (uint64_t)random() % (seed % 2 ? 40 : 3000);
			items[i].type = (enum fsfs_item_type)(1 + random() % 6);
			items[i].fnv = (uint32_t)random();
			items[i].revision = p2l.first + rev;
			items[i].number = next[rev]++;
			p2l.size += items[i].size;
		}
		fsfs_p2l_encode(&p2l, &b);
		fm_source_memory(&s, b.data, b.len);
		assert_int_equal(fsfs_p2l_decode(&s, &out, &again, &err), 0);
		assert_int_equal(again.n, ITEMS);
		assert_memory_equal(again.items, items, sizeof(items));
		assert_int_equal(
			fsfs_l2p_from_p2l(&p2l, 3, 16, &out, &l2p, &err), 0);
		fm_buf_clear(&b);
		fsfs_l2p_encode(&l2p, &b);
		fm_source_memory(&s, b.data, b.len);
		assert_int_equal(fsfs_l2p_decode(&s, &out, &l2p_again, &err),
				 0);
		for (size_t r = 0; r < 3; r++) {
			assert_int_equal(l2p_again.revisions[r].n,
					 l2p.revisions[r].n);
			assert_memory_equal(l2p_again.revisions[r].place,
					    l2p.revisions[r].place,
					    l2p.revisions[r].n *
						    sizeof(uint64_t));
		}
		fm_buf_release(&b);
		fm_arena_release(&out);
	}
}

// Cut short or lengthened by a byte: never a whole index.
static void cut_indexes_are_refused(void **state)
{
	struct fsfs_p2l p2l;
	struct fsfs_l2p l2p;
	struct fm_source s;
	struct fm_arena out;
	struct fm_err err;
	char longer[64];

	(void)state;
	fm_arena_init(&out);
	for (size_t n = 0; n < sizeof(p2l_r0); n++) {
		fm_source_memory(&s, p2l_r0, n);
		assert_true(fsfs_p2l_decode(&s, &out, &p2l, &err) < 0);
	}
	for (size_t n = 0; n < sizeof(l2p_r0); n++) {
		fm_source_memory(&s, l2p_r0, n);
		assert_true(fsfs_l2p_decode(&s, &out, &l2p, &err) < 0);
	}
	memset(longer, 0, sizeof(longer));
	memcpy(longer, p2l_r0, sizeof(p2l_r0));
	fm_source_memory(&s, longer, sizeof(p2l_r0) + 1);
	assert_true(fsfs_p2l_decode(&s, &out, &p2l, &err) < 0);
	memcpy(longer, l2p_r0, sizeof(l2p_r0));
	fm_source_memory(&s, longer, sizeof(l2p_r0) + 1);
	assert_true(fsfs_l2p_decode(&s, &out, &l2p, &err) < 0);
	fm_arena_release(&out);
}

// Whatever the bytes say, decoding ends, within bounds.
static void any_bytes_are_survived(void **state)
{
	(void)state;
	srandom(7);
	for (int round = 0; round < 20000; round++) {
		unsigned char bytes[sizeof(p2l_r0)];
		struct fsfs_p2l p2l;
		struct fsfs_l2p l2p;
		struct fm_source s;
		struct fm_arena out;
		struct fm_err err;

		fm_arena_init(&out);
		memcpy(bytes, p2l_r0, sizeof(p2l_r0));
		for (int k = 0; k < 3; k++)
			bytes[10 + (size_t)random() % (sizeof(bytes) - 10)] =
				(unsigned char)random();
		fm_source_memory(&s, bytes, sizeof(bytes));
		(void)fsfs_p2l_decode(&s, &out, &p2l, &err);
		memcpy(bytes, l2p_r0, sizeof(l2p_r0));
		for (int k = 0; k < 2; k++)
			bytes[10 + (size_t)random() % (sizeof(l2p_r0) - 10)] =
				(unsigned char)random();
		fm_source_memory(&s, bytes, sizeof(l2p_r0));
		(void)fsfs_l2p_decode(&s, &out, &l2p, &err);
		fm_arena_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(revision_0_is_understood),
		cmocka_unit_test(revision_0_is_written_alike),
		cmocka_unit_test(any_index_survives),
		cmocka_unit_test(cut_indexes_are_refused),
		cmocka_unit_test(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
