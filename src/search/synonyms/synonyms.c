/* SPDX-License-Identifier: Apache-2.0 */
/* synonyms.c - see synonyms.h. */
#include "search/synonyms/synonyms.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "base/object.h"
#include "catalog/words.h"
#include "codec/message.h"
#include "query/query.h"
#include "search/bounds.h"

enum { SYNONYMS_MAGIC = OBJECT_MAGIC('s', 'y', 'n', 'o') };

/* What was typed counts more than what it was expanded to. */
static const float synonym_weight = 0.6F;

/* What one thing that may be typed finds, too. */
struct entry {
    const char *key;
    const char **others; /* as written */
    size_t count;
};

struct synonyms {
    uint32_t magic;
    atomic_uint refs;
    struct arena *arena;   /* owned: the entries */
    struct entry *entries; /* ascending by key */
    size_t count;
    const char **refusals; /* "key > key", ascending */
    size_t refusal_count;
};

const char *synonym_key(struct bytes text, struct arena *arena)
{
    const char *rest = words_fold(text, arena);
    struct buf key = BUF_INIT(2 * text.size + 2);
    struct bytes word;
    const char *made;

    while (words_next(&rest, &word)) {
        if (key.size)
            buf_put_byte(&key, ' ');
        buf_put(&key, words_root(word));
    }
    assert(!buf_failed(&key));
    made = arena_text(arena, buf_bytes(&key));
    buf_release(&key);
    return made;
}

/* --- making --- */

struct pair {
    const char *key, *other, *other_key;
    size_t place; /* of the rule's line: the first come first */
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    if (!order)
        order = (x->place > y->place) - (x->place < y->place);
    return order;
}

static bool has_other(const struct entry *entry, const struct pair *pair, struct arena *arena)
{
    for (size_t i = 0; i < entry->count; i++) {
        if (strcmp(synonym_key(bytes_of(entry->others[i]), arena), pair->other_key) == 0)
            return true;
    }
    return false;
}

/* Pairs in order to entries; what an entry has no room for is left out. */
static void make_entries(struct synonyms *synonyms, const struct pair *pairs, size_t count,
                         struct arena *scratch)
{
    struct entry *entry = NULL;

    synonyms->entries = arena_array(synonyms->arena, count + 1, sizeof(*synonyms->entries));
    for (size_t i = 0; i < count; i++) {
        if (!entry || strcmp(entry->key, pairs[i].key) != 0) {
            entry = &synonyms->entries[synonyms->count++];
            entry->key = arena_strdup(synonyms->arena, pairs[i].key);
            entry->others =
                arena_array(synonyms->arena, SYNONYM_OTHER_COUNT_MAX, sizeof(entry->others[0]));
        }
        if (entry->count < SYNONYM_OTHER_COUNT_MAX && !has_other(entry, &pairs[i], scratch))
            entry->others[entry->count++] = arena_strdup(synonyms->arena, pairs[i].other);
    }
}

static size_t count_pairs(const struct synonym_rules *sets, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sets[i].count; k++)
            sum += sets[i].list[k].from_count * sets[i].list[k].to_count;
    }
    return sum;
}

static size_t add_pairs(const struct synonym_rule *rule, struct pair *pairs, size_t count,
                        struct arena *scratch)
{
    const char *to_keys[SYNONYM_TERM_COUNT_MAX];

    assert(rule->to_count <= SYNONYM_TERM_COUNT_MAX);
    if (rule->is_refusal)
        return count;
    for (size_t i = 0; i < rule->to_count; i++)
        to_keys[i] = synonym_key(bytes_of(rule->to[i]), scratch);
    for (size_t i = 0; i < rule->from_count; i++) {
        const char *key = synonym_key(bytes_of(rule->from[i]), scratch);

        for (size_t k = 0; k < rule->to_count; k++) {
            if (strcmp(key, to_keys[k]) != 0) {
                pairs[count] = (struct pair){key, rule->to[k], to_keys[k], count};
                count++;
            }
        }
    }
    return count;
}

static const char *refusal_of(const char *from, const char *to, struct arena *arena)
{
    return arena_printf(arena, "%s > %s", synonym_key(bytes_of(from), arena),
                        synonym_key(bytes_of(to), arena));
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* pair_count: there are no more of them than that. */
static void make_refusals(struct synonyms *synonyms, const struct synonym_rules *sets, size_t count,
                          size_t pair_count)
{
    synonyms->refusals = arena_array(synonyms->arena, pair_count + 1, sizeof(char *));
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sets[i].count; k++) {
            const struct synonym_rule *rule = &sets[i].list[k];

            for (size_t n = 0; rule->is_refusal && n < rule->from_count * rule->to_count; n++)
                synonyms->refusals[synonyms->refusal_count++] = refusal_of(
                    rule->from[n / rule->to_count], rule->to[n % rule->to_count], synonyms->arena);
        }
    }
    qsort(synonyms->refusals, synonyms->refusal_count, sizeof(char *), compare_texts);
}

struct synonyms *synonyms_new(const struct synonym_rules *sets, size_t count)
{
    struct synonyms *synonyms = mem_zero(sizeof(*synonyms));
    struct arena *scratch = arena_new();
    struct pair *pairs = arena_array(scratch, count_pairs(sets, count) + 1, sizeof(*pairs));
    size_t pair_count = 0;

    object_begin(synonyms, SYNONYMS_MAGIC);
    atomic_init(&synonyms->refs, 1);
    synonyms->arena = arena_new();
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sets[i].count; k++)
            pair_count = add_pairs(&sets[i].list[k], pairs, pair_count, scratch);
    }
    qsort(pairs, pair_count, sizeof(*pairs), compare_pairs);
    make_entries(synonyms, pairs, pair_count, scratch);
    make_refusals(synonyms, sets, count, count_pairs(sets, count));
    arena_free(scratch);
    return synonyms;
}

struct synonyms *synonyms_ref(struct synonyms *synonyms)
{
    object_check(synonyms, SYNONYMS_MAGIC);
    atomic_fetch_add_explicit(&synonyms->refs, 1, memory_order_relaxed);
    return synonyms;
}

void synonyms_unref(struct synonyms *synonyms)
{
    if (!synonyms)
        return;
    object_check(synonyms, SYNONYMS_MAGIC);
    if (atomic_fetch_sub_explicit(&synonyms->refs, 1, memory_order_acq_rel) > 1)
        return;
    arena_free(synonyms->arena);
    object_end(synonyms, SYNONYMS_MAGIC);
    free(synonyms);
}

size_t synonyms_count(const struct synonyms *synonyms)
{
    return synonyms->count;
}

/* --- finding --- */

static int compare_entry(const void *key, const void *entry)
{
    return strcmp(key, ((const struct entry *)entry)->key);
}

static const struct entry *find_entry(const struct synonyms *synonyms, const char *key)
{
    return synonyms->count ? bsearch(key, synonyms->entries, synonyms->count,
                                     sizeof(*synonyms->entries), compare_entry)
                           : NULL;
}

bool synonyms_decided(const struct synonyms *synonyms, const char *from, const char *to,
                      struct arena *arena)
{
    const struct entry *entry = find_entry(synonyms, synonym_key(bytes_of(from), arena));
    const struct pair pair = {.other_key = synonym_key(bytes_of(to), arena)};
    const char *refusal = refusal_of(from, to, arena);

    return (entry && has_other(entry, &pair, arena)) ||
           bsearch(&refusal, synonyms->refusals, synonyms->refusal_count, sizeof(char *),
                   compare_texts);
}

/* Words of the line between blanks, those side by side in one run. */
struct chunk {
    size_t start, end;
    size_t run;
};

static bool is_blank(char sign)
{
    return (unsigned char)sign <= ' ';
}

static size_t add_chunks(const char *line, size_t start, size_t end, size_t run,
                         struct chunk *chunks, size_t count)
{
    while (start < end) {
        size_t stop;

        while (start < end && is_blank(line[start]))
            start++;
        for (stop = start; stop < end && !is_blank(line[stop]);)
            stop++;
        if (stop > start)
            chunks[count++] = (struct chunk){start, stop, run};
        start = stop;
    }
    return count;
}

/* The plain words of a line. */
static struct chunk *read_line(const char *line, struct arena *arena, size_t *count)
{
    struct bytes bytes = bytes_of(line);
    struct chunk *chunks = arena_array(arena, bytes.size / 2 + 2, sizeof(*chunks));
    struct query_text text;
    struct err err;
    size_t at = 0;

    *count = 0;
    if (query_text_parse(bytes, false, arena, &text, &err))
        return chunks;
    for (uint32_t i = 0; i < text.count; i++) {
        const struct text_clause *clause = &text.clauses[i];
        const uint8_t *found =
            memmem(bytes.data + at, bytes.size - at, clause->text.data, clause->text.size);
        size_t start = found ? (size_t)(found - bytes.data) : at;

        at = start + clause->text.size;
        if (clause->kind == CLAUSE_WORD && clause->occur == OCCUR_MUST)
            *count = add_chunks(line, start, at, i, chunks, *count);
    }
    return chunks;
}

static bool is_kept(const char *text, char *const *kept, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(kept[i], text) == 0)
            return true;
    }
    return false;
}

/* The most chunks from the first on that are of a rule; 0: none are. */
static size_t match(const struct synonyms *synonyms, const char *line, const struct chunk *chunks,
                    size_t count, struct arena *arena, struct synonym_use *use)
{
    size_t most = count < SYNONYM_WORD_COUNT_MAX ? count : SYNONYM_WORD_COUNT_MAX;

    for (; most > 0; most--) {
        size_t start = chunks[0].start, end = chunks[most - 1].end;
        const struct entry *entry;

        if (chunks[most - 1].run != chunks[0].run)
            continue;
        entry = find_entry(synonyms, synonym_key(bytes_make(line + start, end - start), arena));
        if (!entry)
            continue;
        *use =
            (struct synonym_use){.start = start,
                                 .end = end,
                                 .text = arena_text(arena, bytes_make(line + start, end - start)),
                                 .others = entry->others,
                                 .count = entry->count};
        return most;
    }
    return 0;
}

size_t synonyms_find(const struct synonyms *synonyms, const char *line, char *const *kept,
                     size_t kept_count, struct arena *arena, struct synonym_use **uses)
{
    struct chunk *chunks;
    size_t chunk_count, count = 0, at = 0;

    *uses = NULL;
    if (!synonyms || !synonyms->count || !*line)
        return 0;
    object_check(synonyms, SYNONYMS_MAGIC);
    chunks = read_line(line, arena, &chunk_count);
    *uses = arena_array(arena, SYNONYM_USE_COUNT_MAX, sizeof(**uses));
    while (at < chunk_count && count < SYNONYM_USE_COUNT_MAX) {
        size_t used = match(synonyms, line, chunks + at, chunk_count - at, arena, &(*uses)[count]);

        if (used && !is_kept((*uses)[count].text, kept, kept_count))
            count++;
        at += used ? used : 1;
    }
    return count;
}

/* --- expanding --- */

static Torg__V1__TextClause *make_clause(const struct synonym_use *use, bool any_word,
                                         struct arena *arena)
{
    Torg__V1__TextClause *clause = MESSAGE_NEW(text_clause, arena);

    clause->occur =
        any_word ? TORG__V1__TEXT_CLAUSE__OCCUR__SHOULD : TORG__V1__TEXT_CLAUSE__OCCUR__MUST;
    clause->kind = TORG__V1__TEXT_CLAUSE__KIND__WORD;
    clause->text = (char *)use->text;
    clause->also = arena_array(arena, use->count, sizeof(clause->also[0]));
    for (size_t i = 0; i < use->count; i++) {
        Torg__V1__TextAlso *also = MESSAGE_NEW(text_also, arena);

        also->text = arena_strdup(arena, use->others[i]);
        also->boost = synonym_weight;
        clause->also[clause->n_also++] = also;
    }
    return clause;
}

void synonyms_expand(const struct synonyms *synonyms, char *const *kept, size_t kept_count,
                     Torg__V1__QueryStage *stage, struct arena *arena)
{
    Torg__V1__TextClause **own = stage->clauses;
    struct synonym_use *uses;
    size_t count = synonyms_find(synonyms, stage->text, kept, kept_count, arena, &uses);
    char *line;

    if (!count)
        return;
    line = arena_strdup(arena, stage->text);
    stage->clauses = arena_array(arena, stage->n_clauses + count, sizeof(stage->clauses[0]));
    if (stage->n_clauses)
        memcpy(stage->clauses, own, stage->n_clauses * sizeof(stage->clauses[0]));
    for (size_t i = 0; i < count; i++) {
        stage->clauses[stage->n_clauses++] = make_clause(&uses[i], stage->any_word, arena);
        memset(line + uses[i].start, ' ', uses[i].end - uses[i].start);
    }
    stage->text = line[strspn(line, " ")] ? line : "";
}

/* --- telling --- */

void synonyms_tell(const struct synonyms *synonyms, const char *line, char *const *kept,
                   size_t kept_count, struct arena *arena, Torg__V1__SearchOffersResponse *response)
{
    struct synonym_use *uses;
    size_t count = synonyms_find(synonyms, line, kept, kept_count, arena, &uses);
    Torg__V1__Understood **list;

    if (!count)
        return;
    list = arena_array(arena, response->n_understood + count, sizeof(*list));
    if (response->n_understood)
        memcpy(list, response->understood, response->n_understood * sizeof(*list));
    response->understood = list;
    for (size_t i = 0; i < count; i++) {
        Torg__V1__Understood *understood = MESSAGE_NEW(understood, arena);

        understood->text = (char *)uses[i].text;
        understood->as = "synonym";
        understood->also = arena_array(arena, uses[i].count, sizeof(understood->also[0]));
        for (size_t k = 0; k < uses[i].count; k++)
            understood->also[understood->n_also++] = arena_strdup(arena, uses[i].others[k]);
        list[response->n_understood++] = understood;
    }
}
