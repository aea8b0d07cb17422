/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings.c - decoding and combining posting lists: window bitmaps over packed blocks, beside the
 * plain way, sorted arrays of u32 merged. One thread, warm; each figure is the best of several
 * rounds, ours and the plain one in turn. Answers are compared on the way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/postings/text_segment_writer.h"

enum { ID_COUNT = 4 << 20, LIST_COUNT = 6, ROUNDS = 9 };

/* One id of so many is in the list. */
static const uint32_t shares[LIST_COUNT] = {2, 5, 20, 100, 1000, 20000};

struct list {
    docid *ids;
    uint32_t count;
};

static struct list lists[LIST_COUNT];
static struct text_segment *segment;
static struct err err;

static void check(int rc)
{
    if (rc) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
}

static double ns_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void make_lists(void)
{
    static struct text_norms norms;
    struct text_segment_info info = {.epoch = 1};
    struct text_segment_writer *writer = text_segment_writer_new(&info, &norms, NULL);
    struct rng rng = rng_seeded(1);
    const uint8_t lengths[SEGMENT_FIELD_COUNT] = {5, 20};
    uint32_t *tfs = mem_array(ID_COUNT, sizeof(tfs[0]));
    docid id;
    uint32_t i, k;

    for (id = 0; id < ID_COUNT; id++)
        text_segment_writer_doc(writer, id, lengths);
    for (i = 0; i < LIST_COUNT; i++) {
        lists[i].ids = mem_array(ID_COUNT, sizeof(docid));
        for (id = 0; id < ID_COUNT; id++) {
            if (rng_below(&rng, shares[i]) == 0)
                lists[i].ids[lists[i].count++] = id;
        }
    }
    /* Four in five words stand once in the text; titles and repetitions are the rest. */
    for (id = 0; id < ID_COUNT; id++)
        tfs[id] = rng_below(&rng, 5) ? 0x100 : (uint32_t[]){0x200, 0x101, 1, 0x300}[id % 4];
    for (i = 0; i < LIST_COUNT; i++) {
        for (k = 0; k < lists[i].count; k++)
            text_segment_writer_count(writer, tfs[lists[i].ids[k]], 1);
    }
    for (i = 0; i < LIST_COUNT; i++) {
        text_segment_writer_term(writer, i);
        for (k = 0; k < lists[i].count; k++) {
            struct occurrence places[4] = {{3, 0}, {9, 0}, {17, 1}, {30, 0}};

            text_segment_writer_posting(writer, lists[i].ids[k], tfs[lists[i].ids[k]], places);
        }
    }
    check(text_segment_writer_finish(writer, &segment, &err));
    text_segment_writer_free(writer);
    free(tfs);
}

/* Ids of a list, unpacked block by block, as ids or as bits of windows. */
static double decode_ids(uint32_t list, uint64_t *sum)
{
    double start = ns_now();
    struct postings cursor;
    const docid *ids;

    check(postings_open(&cursor, segment, list, &err));
    while (!postings_ended(&cursor)) {
        check(postings_ids(&cursor, &ids, &err));
        *sum += ids[cursor.size - 1];
        check(postings_next_block(&cursor, &err));
    }
    return ns_now() - start;
}

static double decode_bits(uint32_t list, uint64_t *sum)
{
    double start = ns_now();
    struct window_bits bits;
    struct postings cursor;

    check(postings_open(&cursor, segment, list, &err));
    while (!postings_ended(&cursor)) {
        check(postings_fill(&cursor, window_of(postings_low(&cursor)), &bits, &err));
        *sum += bits.words[0];
    }
    return ns_now() - start;
}

static double count_windows(uint32_t a, uint32_t b, bool both, uint64_t *count)
{
    double start = ns_now();
    struct window_bits left, right;
    struct postings first, second;
    uint32_t window;

    check(postings_open(&first, segment, a, &err));
    check(postings_open(&second, segment, b, &err));
    for (window = 0; window < ID_COUNT / WINDOW_SIZE; window++) {
        docid end = window_first(window + 1);

        if (both && (postings_low(&second) >= end || postings_low(&first) >= end))
            continue; /* one of them has nothing here */
        check(postings_fill(&second, window, &right, &err));
        check(postings_fill(&first, window, &left, &err));
        if (both) {
            *count += kernels()->window_and_count(&left, &right);
        } else {
            kernels()->window_or(&left, &right);
            *count += kernels()->window_count(&left);
        }
    }
    return ns_now() - start;
}

static double count_arrays(const struct list *a, const struct list *b, bool both, uint64_t *count)
{
    double start = ns_now();
    uint32_t i = 0, k = 0;
    uint64_t same = 0;

    while (i < a->count && k < b->count) {
        docid left = a->ids[i], right = b->ids[k];

        same += left == right;
        i += left <= right;
        k += right <= left;
    }
    *count += both ? same : a->count + (uint64_t)b->count - same;
    return ns_now() - start;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double bits_of(enum text_segment_section section)
{
    return (double)segment->sections[section].size * 8 / (double)segment->info.posting_count;
}

struct figures {
    double ids, bits;           /* Gint/s of the list of 1 in 20 */
    double and_ratio, or_ratio; /* of that and the next */
    uint64_t sink;
};

static void bench_decoding(struct figures *figures)
{
    uint32_t i, round;

    printf("%8s %10s %12s %12s\n", "N", "postings", "ids Gint/s", "bits Gint/s");
    for (i = 0; i < LIST_COUNT; i++) {
        double ids_ns = 1e18, bits_ns = 1e18;

        for (round = 0; round < ROUNDS; round++) {
            ids_ns = least(ids_ns, decode_ids(i, &figures->sink));
            bits_ns = least(bits_ns, decode_bits(i, &figures->sink));
        }
        printf("%8u %10u %12.2f %12.2f\n", shares[i], lists[i].count, lists[i].count / ids_ns,
               lists[i].count / bits_ns);
        if (shares[i] == 20) {
            figures->ids = lists[i].count / ids_ns;
            figures->bits = lists[i].count / bits_ns;
        }
    }
}

/* Lists i and i + 1, OR and AND. */
static void bench_pair(uint32_t i, double ours[2], double plain[2])
{
    uint32_t round, both;

    for (round = 0; round < ROUNDS; round++) {
        for (both = 0; both < 2; both++) {
            uint64_t count = 0, wanted = 0;

            ours[both] = least(ours[both], count_windows(i, i + 1, both, &count));
            plain[both] = least(plain[both], count_arrays(&lists[i], &lists[i + 1], both, &wanted));
            if (count != wanted) {
                fprintf(stderr, "bench: %ju documents, not %ju\n", (uintmax_t)count,
                        (uintmax_t)wanted);
                exit(1);
            }
        }
    }
}

static void bench_counts(struct figures *figures)
{
    uint32_t i;

    printf("%8s %8s %9s %9s %9s %9s   µs, and times the plain way\n", "N", "M", "AND", "plain",
           "OR", "plain");
    for (i = 0; i + 1 < LIST_COUNT; i++) {
        double ours[2] = {1e18, 1e18}, plain[2] = {1e18, 1e18};

        bench_pair(i, ours, plain);
        printf("%8u %8u %9.0f %9.0f %9.0f %9.0f   %.1f %.1f\n", shares[i], shares[i + 1],
               ours[1] / 1e3, plain[1] / 1e3, ours[0] / 1e3, plain[0] / 1e3, plain[1] / ours[1],
               plain[0] / ours[0]);
        if (shares[i] == 20) {
            figures->and_ratio = plain[1] / ours[1];
            figures->or_ratio = plain[0] / ours[0];
        }
    }
}

int main(void)
{
    struct figures figures = {0};
    uint32_t i;

    make_lists();
    printf("%s kernels, %d ids; list of 1 in N ids\n", kernels()->name, ID_COUNT);
    bench_decoding(&figures);
    bench_counts(&figures);
    printf("bits a posting: %.2f ids and codes, %.2f directory, %.2f positions and forms\n",
           bits_of(SECTION_POST), bits_of(SECTION_DIR), bits_of(SECTION_POS));
    printf("kernels=%s decode_gint_s=%.2f fill_gint_s=%.2f and_vs_arrays=%.1f or_vs_arrays=%.1f "
           "bits_a_posting=%.2f position_bits=%.2f check=%ju\n",
           kernels()->name, figures.ids, figures.bits, figures.and_ratio, figures.or_ratio,
           bits_of(SECTION_POST) + bits_of(SECTION_DIR), bits_of(SECTION_POS),
           (uintmax_t)(figures.sink & 0xff));
    text_segment_close(segment);
    for (i = 0; i < LIST_COUNT; i++)
        free(lists[i].ids);
    return 0;
}
