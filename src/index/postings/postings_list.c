/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings_list.c - see postings_block.h: short lists, and the remainders of long ones.
 *
 * Two thirds of all terms have one. Ids and codes are plain runs of bits, each as wide as its
 * largest value: exceptions would save nothing in so few. Occurrences lie elsewhere, and are not
 * touched before somebody asks for them.
 */
#include <assert.h>

#include "base/varint.h"
#include "index/postings/postings_block.h"
#include "index/postings/text_segment_format.h"

enum { HEAD_SIZE_MAX = LIST_HEAD_SIZE + SEGMENT_FIELD_COUNT + VARINT_SIZE_MAX };

struct list_head {
    unsigned id_width, code_width;
    size_t size; /* of the head itself */
};

static unsigned low_width(unsigned head)
{
    return head & ((1U << LIST_WIDTH_BITS) - 1);
}

/* Reads what stands before the bits: widths, bounds, where the occurrences are. */
static int read_head(struct postings *postings, struct bytes in, struct list_head *head,
                     struct err *err)
{
    bool is_short = (postings->entry & SEGMENT_SHORT) != 0;
    struct bytes rest = bytes_skip(in, LIST_HEAD_SIZE);
    unsigned word = get_le16(in.data), field;

    head->id_width = low_width(word);
    head->code_width = low_width(word >> LIST_WIDTH_BITS);
    if (is_short)
        memset(postings->bounds, 0, sizeof(postings->bounds));
    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        if (!(word >> LIST_FIELDS_SHIFT >> field & 1))
            continue;
        if (!is_short || rest.size == 0)
            return postings_damaged(postings, "bounds that cannot be there", err);
        postings->bounds[field] = rest.data[0];
        rest = bytes_skip(rest, 1);
    }
    postings->list.section = is_short ? SECTION_TAILS : SECTION_POS;
    if (is_short && postings->size < SHORT_APART_MIN)
        postings->list.section = SECTION_POST;
    else if (!varint_get(&rest, &postings->list.offset))
        return postings_damaged(postings, "no place of its occurrences", err);
    if (head->id_width > 32 || head->code_width > 32)
        return postings_damaged(postings, "a wrong width", err);
    head->size = in.size - rest.size;
    return 0;
}

/* Gaps become ids. */
static int add_up(struct postings *postings, struct err *err)
{
    uint64_t next = (docid)(postings->before + 1); /* before may be -1 */
    uint32_t i;

    for (i = 0; i < postings->size; i++) {
        next += postings->ids[i];
        postings->ids[i] = (docid)next++;
    }
    /* They ascend, so the last one tells of all. */
    return next > DOCID_END ? postings_damaged(postings, "an id out of range", err) : 0;
}

int postings_read_list(struct postings *postings, uint64_t offset, struct err *err)
{
    struct bytes post = postings->segment->sections[SECTION_POST], in;
    struct list_head head = {0};
    uint64_t bits;
    int rc;

    if (offset > post.size || post.size - offset < LIST_HEAD_SIZE)
        return postings_damaged(postings, "a place outside of the postings", err);
    in = bytes_skip(post, (size_t)offset);
    rc = text_segment_check(postings->segment, SECTION_POST, offset,
                            in.size < HEAD_SIZE_MAX ? in.size : HEAD_SIZE_MAX, err);
    if (!rc)
        rc = read_head(postings, in, &head, err);
    if (rc)
        return rc;
    in = bytes_skip(in, head.size);
    offset += head.size;
    bits = (uint64_t)postings->size * (head.id_width + head.code_width);
    rc = text_segment_check(postings->segment, SECTION_POST, offset, (bits + 7) / 8, err);
    if (rc)
        return rc;
    if (postings->list.section == SECTION_POST)
        postings->list.offset = offset + (bits + 7) / 8;
    unpack_bits(in, 0, head.id_width, postings->size, postings->ids);
    unpack_bits(in, (uint64_t)postings->size * head.id_width, head.code_width, postings->size,
                postings->codes);
    postings->has_ids = postings->has_codes = true;
    return add_up(postings, err);
}

int postings_open_list(struct postings *postings, struct err *err)
{
    struct posting_list *list = &postings->list;
    uint64_t bits;
    unsigned word;
    int rc = postings_starts(postings, err);

    if (!rc)
        rc =
            text_segment_check(postings->segment, list->section, list->offset, LIST_HEAD_SIZE, err);
    if (rc)
        return rc;
    list->bits = bytes_skip(postings->segment->sections[list->section], (size_t)list->offset);
    word = get_le16(list->bits.data);
    list->bits = bytes_skip(list->bits, LIST_HEAD_SIZE);
    list->position_width = low_width(word);
    list->form_width = low_width(word >> LIST_WIDTH_BITS);
    if (list->position_width > 32 || list->form_width > 32 || word >> LIST_FIELDS_SHIFT)
        return postings_damaged(postings, "a wrong width of occurrences", err);
    bits = (uint64_t)postings->starts[postings->size] * (list->position_width + list->form_width);
    rc = text_segment_check(postings->segment, list->section, list->offset + LIST_HEAD_SIZE,
                            (bits + 7) / 8, err);
    postings->has_places = !rc;
    return rc;
}

void postings_list_places(const struct postings *postings, uint32_t from, uint32_t count,
                          uint32_t *distances, uint32_t *forms)
{
    const struct posting_list *list = &postings->list;
    uint64_t forms_bit = (uint64_t)postings->starts[postings->size] * list->position_width;

    assert(postings->has_places && (uint64_t)from + count <= postings->starts[postings->size]);
    unpack_bits(list->bits, (uint64_t)from * list->position_width, list->position_width, count,
                distances);
    unpack_bits(list->bits, forms_bit + (uint64_t)from * list->form_width, list->form_width, count,
                forms);
}
