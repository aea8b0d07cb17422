/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon_expand.c - prefixes and misspelt words: one pattern, many terms.
 *
 * Forms lie in a sorted array, as of the last lexicon_sort, and a tail that is scanned. The array
 * is walked as if it were a tree of letters: the table of edit distances keeps a row for each
 * letter of the path, a branch that no row can save is left by a search for its end, and once all
 * edits are spent only those letters are looked for that the word has next.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "index/text/lexicon_parts.h"

enum {
    DISTANCE_MAX = 2,
    ROW_COUNT = TOKEN_SIZE_MAX + DISTANCE_MAX + 2,
    SEEN_COUNT = 4 * LEXICON_EXPAND_COUNT_MAX, /* a power of two */
};

/* ---- Sorting ---- */

struct sort_key {
    uint64_t head; /* the first bytes, big-endian: they decide most comparisons */
    uint32_t form; /* its offset */
};

static int compare_keys(const void *a, const void *b, void *lexicon)
{
    const struct sort_key *left = a;
    const struct sort_key *right = b;

    if (left->head != right->head)
        return left->head < right->head ? -1 : 1;
    return bytes_compare(form_bytes(lexicon, left->form), form_bytes(lexicon, right->form));
}

static uint64_t head_of(struct bytes form)
{
    uint64_t head = 0;

    for (size_t i = 0; i < sizeof(head); i++)
        head = head << 8 | (i < form.size ? form.data[i] : 0);
    return head;
}

/* The count forms from an offset on in order; the caller frees them. *end: where they end. */
static struct sort_key *sort_tail(struct lexicon *lexicon, size_t *end, uint32_t count)
{
    struct sort_key *keys = mem_array((size_t)count + 1, sizeof(*keys));
    size_t all = atomic_load_explicit(&lexicon->byte_size, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++) {
        size_t offset = record_settle(lexicon, *end, all);

        keys[i] = (struct sort_key){head_of(form_bytes(lexicon, offset)), (uint32_t)offset};
        *end = record_next(lexicon, offset, all);
    }
    qsort_r(keys, count, sizeof(*keys), compare_keys, lexicon);
    return keys;
}

static uint32_t *sorted_tree(const struct sorted *sorted)
{
    return (uint32_t *)(uintptr_t)(sorted->forms + sorted->count);
}

static uint8_t *sorted_levels(const struct sorted *sorted)
{
    return (uint8_t *)(sorted_tree(sorted) + 2 * (size_t)sorted_block_count(sorted->count));
}

static uint32_t rank_of(const struct lexicon *lexicon, const struct sorted *sorted, uint32_t place)
{
    termid term = record_term(record_at(lexicon, sorted->forms[place]));

    return (uint32_t)(LEVEL_MAX - sorted_levels(sorted)[place]) << LEVEL_SHIFT | term;
}

/* Twice the logarithm. */
static uint8_t level_of(uint32_t doc_count)
{
    unsigned high;
    unsigned level;

    if (doc_count == 0)
        return 0;
    high = 31 - (unsigned)__builtin_clz(doc_count);
    level = 1 + 2 * high + ((uint64_t)doc_count * doc_count >= UINT64_C(2) << 2 * high);
    return (uint8_t)(level < LEVEL_MAX ? level : LEVEL_MAX);
}

static void grow_tree(const struct lexicon *lexicon, struct sorted *sorted)
{
    uint32_t blocks = sorted_block_count(sorted->count);
    uint32_t *tree = sorted_tree(sorted);

    for (uint32_t i = 0; i < blocks; i++)
        tree[blocks + i] = UINT32_MAX;
    for (uint32_t i = 0; i < sorted->count; i++) {
        uint32_t rank = rank_of(lexicon, sorted, i);
        uint32_t *leaf = &tree[blocks + i / SORTED_BLOCK_SIZE];

        *leaf = rank < *leaf ? rank : *leaf;
    }
    for (uint32_t i = blocks - 1; i > 0; i--)
        tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
}

/* The old ones with their levels, if there are any, and those of the tail. */
static struct sorted *merge_tail(const struct lexicon *lexicon, const struct sorted *old,
                                 const struct sort_key *tail, uint32_t count)
{
    struct sorted *new = mem_alloc(sorted_size(count));
    uint32_t old_count = old ? old->count : 0;
    uint32_t from_old = 0;
    uint32_t from_tail = 0;

    new->count = count;
    new->is_weighed = old && old->is_weighed;
    for (uint32_t i = 0; i < count; i++) {
        bool take_old =
            from_old < old_count && (from_tail == count - old_count ||
                                     bytes_compare(form_bytes(lexicon, old->forms[from_old]),
                                                   form_bytes(lexicon, tail[from_tail].form)) < 0);

        sorted_levels(new)[i] = take_old ? sorted_levels(old)[from_old] : 0;
        new->forms[i] = take_old ? old->forms[from_old++] : tail[from_tail++].form;
    }
    return new;
}

static void weigh_forms(const struct lexicon *lexicon, struct sorted *sorted,
                        const uint32_t *doc_counts, uint32_t count)
{
    sorted->is_weighed = true;
    for (uint32_t i = 0; i < sorted->count; i++) {
        termid term = record_term(record_at(lexicon, sorted->forms[i]));

        sorted_levels(sorted)[i] = level_of(term < count ? doc_counts[term] : 0);
    }
}

/* doc_counts: NULL, or of the first term_count terms. */
static void sort_and_weigh(struct lexicon *lexicon, const uint32_t *doc_counts, uint32_t term_count)
{
    struct sorted *old;
    struct sorted *new;
    struct sort_key *tail;
    uint32_t count;
    uint32_t old_count;
    size_t end;

    pthread_mutex_lock(&lexicon->sort_lock);
    old = atomic_load_explicit(&lexicon->sorted, memory_order_relaxed);
    old_count = old ? old->count : 0;
    end = old ? old->end : RECORD_FIRST;
    count = atomic_load_explicit(&lexicon->form_count, memory_order_acquire);
    if (count == 0 || (count == old_count && !doc_counts)) {
        pthread_mutex_unlock(&lexicon->sort_lock);
        return;
    }
    tail = sort_tail(lexicon, &end, count - old_count);
    new = merge_tail(lexicon, old, tail, count);
    new->end = end;
    free(tail);
    if (doc_counts)
        weigh_forms(lexicon, new, doc_counts, term_count);
    grow_tree(lexicon, new);
    atomic_store_explicit(&lexicon->sorted, new, memory_order_release);
    atomic_fetch_add_explicit(&lexicon->table_size, sorted_size(count), memory_order_relaxed);
    if (old)
        lexicon_retire(lexicon, &old->retired, sorted_size(old_count));
    pthread_mutex_unlock(&lexicon->sort_lock);
}

void lexicon_sort(struct lexicon *lexicon)
{
    object_check(lexicon, LEXICON_MAGIC);
    sort_and_weigh(lexicon, NULL, 0);
}

void lexicon_weigh(struct lexicon *lexicon, const uint32_t *doc_counts, uint32_t count)
{
    object_check(lexicon, LEXICON_MAGIC);
    assert(doc_counts);
    sort_and_weigh(lexicon, doc_counts, count);
}

/* The first of [at, sorted->count) that is not before the key; past: nor begins with it. Steps
 * that double come first: what is looked for is mostly near. */
static uint32_t seek(const struct lexicon *lexicon, const struct sorted *sorted, uint32_t at,
                     struct bytes key, bool past)
{
    uint32_t low = at;
    uint32_t high = at;
    uint32_t step = 1;

    while (high < sorted->count) {
        struct bytes form = form_bytes(lexicon, sorted->forms[high]);

        if (bytes_compare(form, key) >= 0 && !(past && bytes_begin(form, key)))
            break;
        low = high + 1;
        high = sorted->count - high > step ? high + step : sorted->count;
        step *= 2;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct bytes form = form_bytes(lexicon, sorted->forms[middle]);

        if (bytes_compare(form, key) < 0 || (past && bytes_begin(form, key)))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Collecting terms ---- */

struct collector {
    const struct lexicon *lexicon;
    struct lexicon_hit *hits;
    size_t count, max;
    bool full;                 /* there are more than max */
    uint16_t seen[SEEN_COUNT]; /* hit + 1, by term */
};

static void collect(struct collector *collector, uint32_t form, unsigned distance)
{
    termid term = record_term(record_at(collector->lexicon, form));
    size_t at = term * 2654435761U % SEEN_COUNT;

    for (; collector->seen[at]; at = (at + 1) % SEEN_COUNT) {
        struct lexicon_hit *hit = &collector->hits[collector->seen[at] - 1];

        if (hit->term == term) {
            hit->distance = distance < hit->distance ? (uint8_t)distance : hit->distance;
            return;
        }
    }
    if (collector->count == collector->max) {
        collector->full = true;
        return;
    }
    collector->hits[collector->count++] = (struct lexicon_hit){term, (uint8_t)distance};
    collector->seen[at] = (uint16_t)collector->count;
}

static int compare_hits(const void *a, const void *b)
{
    const struct lexicon_hit *left = a;
    const struct lexicon_hit *right = b;

    return (left->term > right->term) - (left->term < right->term);
}

static int finish(struct collector *collector, const char *how, struct bytes word, size_t *count,
                  struct err *err)
{
    qsort(collector->hits, collector->count, sizeof(*collector->hits), compare_hits);
    *count = collector->count;
    if (!collector->full)
        return 0;
    return err_set(err, ERR_LIMIT, "more than %zu words %s %.*s: write more of it", collector->max,
                   how, BYTES_ARG(word));
}

/* The first form that is not sorted. */
static size_t tail_of(const struct lexicon *lexicon, const struct sorted *sorted, size_t end)
{
    return record_settle(lexicon, sorted ? sorted->end : RECORD_FIRST, end);
}

/* ---- Prefixes ---- */

int lexicon_prefix(const struct lexicon *lexicon, struct bytes prefix, struct lexicon_hit *hits,
                   size_t max, size_t *count, struct err *err)
{
    const struct sorted *sorted = atomic_load_explicit(&lexicon->sorted, memory_order_acquire);
    size_t end = atomic_load_explicit(&lexicon->byte_size, memory_order_acquire);
    struct collector collector = {.lexicon = lexicon, .hits = hits, .max = max};

    object_check(lexicon, LEXICON_MAGIC);
    assert(max <= LEXICON_EXPAND_COUNT_MAX);
    for (uint32_t i = sorted ? seek(lexicon, sorted, 0, prefix, false) : 0;
         sorted && i < sorted->count && !collector.full; i++) {
        if (!bytes_begin(form_bytes(lexicon, sorted->forms[i]), prefix))
            break;
        collect(&collector, sorted->forms[i], 0);
    }
    for (size_t at = tail_of(lexicon, sorted, end); at < end && !collector.full;
         at = record_next(lexicon, at, end)) {
        if (bytes_begin(form_bytes(lexicon, at), prefix))
            collect(&collector, (uint32_t)at, 0);
    }
    return finish(&collector, "begin with", prefix, count, err);
}

/* What is next to be looked at, a heap: a form, or a node of the tree for all that are under it;
 * the one of the least rank is the first. */
struct likely_item {
    uint32_t rank;
    uint32_t name; /* a node, or behind all nodes the place of a form */
};

struct likeliest {
    const struct lexicon *lexicon;
    const struct sorted *sorted;
    uint32_t block_count;
    uint32_t count;
    struct likely_item items[32 * LEXICON_EXPAND_COUNT_MAX];
};

static void likeliest_push(struct likeliest *likeliest, uint32_t rank, uint32_t name)
{
    struct likely_item *items = likeliest->items;
    uint32_t at = likeliest->count++;

    assert(at < ARRAY_COUNT(likeliest->items));
    for (; at > 0 && rank < items[(at - 1) / 2].rank; at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = (struct likely_item){rank, name};
}

static uint32_t likeliest_pop(struct likeliest *likeliest)
{
    struct likely_item *items = likeliest->items;
    uint32_t first = items[0].name;
    struct likely_item last = items[--likeliest->count];
    uint32_t at = 0;

    for (uint32_t child = 1; child < likeliest->count; child = 2 * at + 1) {
        if (child + 1 < likeliest->count && items[child + 1].rank < items[child].rank)
            child++;
        if (last.rank <= items[child].rank)
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = last;
    return first;
}

static void push_node(struct likeliest *likeliest, uint32_t node)
{
    likeliest_push(likeliest, sorted_tree(likeliest->sorted)[node], node);
}

static void push_forms(struct likeliest *likeliest, uint32_t from, uint32_t to)
{
    for (; from < to; from++)
        likeliest_push(likeliest, rank_of(likeliest->lexicon, likeliest->sorted, from),
                       2 * likeliest->block_count + from);
}

/* The sorted forms [from, to): those of parts of blocks, and nodes for the rest. */
static void push_range(struct likeliest *likeliest, uint32_t from, uint32_t to)
{
    uint32_t low = (from + SORTED_BLOCK_SIZE - 1) / SORTED_BLOCK_SIZE;
    uint32_t high = to / SORTED_BLOCK_SIZE;

    if (low >= high) {
        push_forms(likeliest, from, to);
        return;
    }
    push_forms(likeliest, from, low * SORTED_BLOCK_SIZE);
    push_forms(likeliest, high * SORTED_BLOCK_SIZE, to);
    low += likeliest->block_count;
    high += likeliest->block_count;
    for (; low < high; low /= 2, high /= 2) {
        if (low % 2)
            push_node(likeliest, low++);
        if (high % 2)
            push_node(likeliest, --high);
    }
}

/* A term may have thousands of forms: when the heap is full of them, what was found is enough. */
static void collect_likeliest(struct collector *collector, const struct sorted *sorted,
                              uint32_t from, uint32_t to)
{
    struct likeliest *likeliest = mem_alloc(sizeof(*likeliest));
    uint32_t blocks = sorted_block_count(sorted->count);

    likeliest->lexicon = collector->lexicon;
    likeliest->sorted = sorted;
    likeliest->block_count = blocks;
    likeliest->count = 0;
    push_range(likeliest, from, to);
    while (likeliest->count && !collector->full &&
           likeliest->count + SORTED_BLOCK_SIZE <= ARRAY_COUNT(likeliest->items)) {
        uint32_t name = likeliest_pop(likeliest);

        if (name >= 2 * blocks) {
            collect(collector, sorted->forms[name - 2 * blocks], 0);
        } else if (name >= blocks) {
            push_forms(likeliest, (name - blocks) * SORTED_BLOCK_SIZE,
                       (name - blocks + 1) * SORTED_BLOCK_SIZE);
        } else {
            push_node(likeliest, 2 * name);
            push_node(likeliest, 2 * name + 1);
        }
    }
    free(likeliest);
}

void lexicon_prefix_some(const struct lexicon *lexicon, struct bytes prefix, size_t enough,
                         struct lexicon_hit *hits, size_t max, size_t *count)
{
    const struct sorted *sorted = atomic_load_explicit(&lexicon->sorted, memory_order_acquire);
    size_t end = atomic_load_explicit(&lexicon->byte_size, memory_order_acquire);
    struct collector collector = {.lexicon = lexicon, .hits = hits};

    object_check(lexicon, LEXICON_MAGIC);
    assert(max <= LEXICON_EXPAND_COUNT_MAX && enough <= max / 2);
    collector.max = sorted && sorted->is_weighed ? enough : max / 2;
    if (sorted) {
        uint32_t from = seek(lexicon, sorted, 0, prefix, false);
        uint32_t to = seek(lexicon, sorted, from, prefix, true);

        collect_likeliest(&collector, sorted, from, to);
    }
    collector.max = max;
    collector.full = false;
    for (size_t at = tail_of(lexicon, sorted, end); at < end && !collector.full;
         at = record_next(lexicon, at, end)) {
        if (bytes_begin(form_bytes(lexicon, at), prefix))
            collect(&collector, (uint32_t)at, 0);
    }
    qsort(collector.hits, collector.count, sizeof(*collector.hits), compare_hits);
    *count = collector.count;
}

/* ---- Misspelt words ---- */

struct letters {
    uint32_t code[TOKEN_SIZE_MAX];
    size_t count;
};

/* rows[i][j]: edits between the first i letters of the path and the first j of the word, or
 * distance + 1 where there are more. The path is that of the form looked at. */
struct walk {
    struct letters word, path;
    unsigned distance;
    uint8_t rows[ROW_COUNT][TOKEN_SIZE_MAX + 1];
};

static void decode(struct bytes form, struct letters *letters)
{
    letters->count = 0;
    for (size_t at = 0; at < form.size;)
        at +=
            unicode_decode(form.data + at, form.data + form.size, &letters->code[letters->count++]);
}

unsigned lexicon_fuzzy_distance(struct bytes word)
{
    size_t count = 0;

    for (size_t i = 0; i < word.size; i++)
        count += (word.data[i] & 0xC0) != 0x80;
    return count <= 3 ? 0 : count <= 7 ? 1 : DISTANCE_MAX;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Fills row i from the rows before it; tells whether a longer path, or this one, may be near. */
static bool fill_row(struct walk *walk, size_t i)
{
    const uint32_t *path = walk->path.code;
    const uint32_t *word = walk->word.code;
    unsigned far = walk->distance + 1;
    unsigned best = far;
    size_t j;

    if (i > walk->word.count + walk->distance)
        return false;
    for (j = 0; j <= walk->word.count; j++) {
        unsigned edits = far;

        if (j > i + walk->distance || i > j + walk->distance) {
            walk->rows[i][j] = (uint8_t)far;
            continue;
        }
        edits = least(edits, walk->rows[i - 1][j] + 1U);
        if (j > 0) {
            edits = least(edits, walk->rows[i][j - 1] + 1U);
            edits = least(edits, walk->rows[i - 1][j - 1] + (path[i - 1] != word[j - 1]));
        }
        if (i > 1 && j > 1 && path[i - 1] == word[j - 2] && path[i - 2] == word[j - 1])
            edits = least(edits, walk->rows[i - 2][j - 2] + 1U);
        walk->rows[i][j] = (uint8_t)edits;
        best = least(best, edits);
        if (i > 0)
            best = least(best, walk->rows[i - 1][j] + 1U); /* half of a changing over */
    }
    return best <= walk->distance;
}

/* The least letter from `from` on that may follow i letters of the path; UINT32_MAX: none. */
static uint32_t next_letter(const struct walk *walk, size_t i, uint32_t from)
{
    const uint32_t *word = walk->word.code;
    uint32_t next = UINT32_MAX;

    for (size_t j = 0; j <= walk->word.count; j++) {
        bool matches = walk->rows[i][j] == walk->distance;
        bool completes = i > 0 && walk->rows[i - 1][j] < walk->distance &&
                         j + 1 < walk->word.count && walk->path.code[i - 1] == word[j + 1];

        if (walk->rows[i][j] < walk->distance)
            return from; /* an edit is left: any letter will do */
        if (j < walk->word.count && (matches || completes) && word[j] >= from && word[j] < next)
            next = word[j];
    }
    return next;
}

/* Follows the form from the letter at which it leaves the path. True: *edits is its distance.
 * False: no form before the key (past: or beginning with it) is near. */
static bool follow(struct walk *walk, const struct letters *form, unsigned *edits,
                   struct letters *key, bool *past)
{
    size_t i = 0;

    while (i < walk->path.count && i < form->count && walk->path.code[i] == form->code[i])
        i++;
    for (; i < form->count; i++) {
        uint32_t letter = next_letter(walk, i, form->code[i]);

        walk->path.count = i;
        if (letter == form->code[i]) {
            walk->path.code[i] = letter;
            if (fill_row(walk, i + 1)) {
                walk->path.count = i + 1;
                continue;
            }
        }
        *key = *form;
        *past = letter == form->code[i] || letter == UINT32_MAX;
        key->count = letter == UINT32_MAX ? i : i + 1;
        if (!*past)
            key->code[i] = letter;
        return false;
    }
    walk->path.count = form->count;
    *edits = walk->rows[form->count][walk->word.count];
    return true;
}

static struct bytes encode(const struct letters *letters,
                           uint8_t to[TOKEN_SIZE_MAX * UNICODE_UTF8_SIZE_MAX])
{
    size_t size = 0;

    for (size_t i = 0; i < letters->count; i++)
        size += unicode_encode(letters->code[i], to + size);
    return bytes_make(to, size);
}

static void walk_sorted(const struct lexicon *lexicon, const struct sorted *sorted,
                        struct bytes prefix, struct walk *walk, struct collector *collector)
{
    uint8_t bytes[TOKEN_SIZE_MAX * UNICODE_UTF8_SIZE_MAX];
    uint32_t at = seek(lexicon, sorted, 0, prefix, false);

    while (at < sorted->count && !collector->full) {
        struct bytes form = form_bytes(lexicon, sorted->forms[at]);
        struct letters letters;
        struct letters key;
        unsigned edits;
        bool past;

        if (!bytes_begin(form, prefix))
            break;
        decode(form, &letters);
        if (!follow(walk, &letters, &edits, &key, &past)) {
            if (key.count == 0 && past)
                break; /* nothing at all can follow */
            at = seek(lexicon, sorted, at, encode(&key, bytes), past);
            continue;
        }
        if (edits <= walk->distance)
            collect(collector, sorted->forms[at], edits);
        at++;
    }
}

int lexicon_fuzzy(const struct lexicon *lexicon, struct bytes word, unsigned distance,
                  size_t exact_count, struct lexicon_hit *hits, size_t max, size_t *count,
                  struct err *err)
{
    const struct sorted *sorted = atomic_load_explicit(&lexicon->sorted, memory_order_acquire);
    size_t end = atomic_load_explicit(&lexicon->byte_size, memory_order_acquire);
    struct collector collector = {.lexicon = lexicon, .hits = hits, .max = max};
    struct walk walk = {.distance = distance};
    struct letters letters;
    uint8_t bytes[TOKEN_SIZE_MAX * UNICODE_UTF8_SIZE_MAX];
    struct bytes prefix;
    unsigned edits;
    bool past;

    object_check(lexicon, LEXICON_MAGIC);
    assert(max <= LEXICON_EXPAND_COUNT_MAX && distance <= DISTANCE_MAX);
    *count = 0;
    if (word.size > TOKEN_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a word of %zu bytes; analysis makes 1 to %d", word.size,
                       TOKEN_SIZE_MAX);
    decode(word, &walk.word);
    for (size_t j = 0; j <= walk.word.count; j++)
        walk.rows[0][j] = (uint8_t)least((unsigned)j, distance + 1);
    letters = walk.word;
    letters.count = exact_count < letters.count ? exact_count : letters.count;
    prefix = encode(&letters, bytes);
    if (sorted)
        walk_sorted(lexicon, sorted, prefix, &walk, &collector);
    for (size_t at = tail_of(lexicon, sorted, end); at < end && !collector.full;
         at = record_next(lexicon, at, end)) {
        struct letters key;

        if (!bytes_begin(form_bytes(lexicon, at), prefix))
            continue;
        decode(form_bytes(lexicon, at), &letters);
        if (follow(&walk, &letters, &edits, &key, &past) && edits <= distance)
            collect(&collector, (uint32_t)at, edits);
    }
    return finish(&collector, "are spelt like", word, count, err);
}
