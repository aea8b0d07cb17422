/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - see snapshot.h. */
#include "spell/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/varint.h"

static const char magic[] = "torg learnt 2\n";
enum { MAGIC_SIZE = sizeof(magic) - 1, HEAD_SIZE = MAGIC_SIZE + 4 };

static uint32_t seen_of(const struct words *words, wordid id)
{
    const struct word *word = words_get(words, id);

    return atomic_load_explicit(&((struct word *)word)->seen, memory_order_relaxed);
}

/* Writes the words that were seen; places[id] becomes their place in the list. */
static void put_words(struct buf *out, const struct words *words, uint32_t *places)
{
    uint32_t count = words_count(words), place = 0;

    for (wordid id = 0; id < count; id++) {
        if (seen_of(words, id))
            places[id] = place++;
    }
    varint_put(out, place);
    for (wordid id = 0; id < count; id++) {
        const struct word *word = words_get(words, id);

        if (!seen_of(words, id))
            continue;
        varint_put(out, word->size);
        buf_put_raw(out, words_letters(words, word), word->size);
        varint_put(out, seen_of(words, id));
    }
}

static void put_pairs(struct buf *out, const struct pairs *pairs, const uint32_t *places)
{
    struct pair pair;

    varint_put(out, pairs_count(pairs));
    for (size_t at = 0; pairs_next(pairs, &at, &pair);) {
        varint_put(out, places[pair.first]);
        varint_put(out, places[pair.second]);
        varint_put(out, pair.count);
    }
}

int snapshot_save(const char *path, struct bytes note, const struct words *words,
                  const struct pairs *pairs, struct err *err)
{
    struct buf out = BUF_INIT(SPELL_SNAPSHOT_SIZE_MAX);
    uint32_t *places = mem_array((size_t)words_count(words) + 1, sizeof(*places));
    uint8_t head[4] = {0};
    int rc;

    buf_put_raw(&out, magic, MAGIC_SIZE);
    buf_put_raw(&out, head, sizeof(head));
    varint_put(&out, note.size);
    buf_put(&out, note);
    put_words(&out, words, places);
    put_pairs(&out, pairs, places);
    if (buf_failed(&out)) {
        rc = err_set(err, ERR_LIMIT, "what spelling learnt takes more than %d bytes",
                     SPELL_SNAPSHOT_SIZE_MAX);
    } else {
        put_le32(out.data + MAGIC_SIZE, crc32c(0, bytes_skip(buf_bytes(&out), HEAD_SIZE)));
        rc = file_write(path, buf_bytes(&out), err);
    }
    free(places);
    buf_release(&out);
    return rc;
}

static bool take_word(struct bytes *rest, struct words *words, wordid *id)
{
    uint64_t size, seen;
    struct bytes letters;

    if (!varint_get(rest, &size) || size == 0 || size > SPELL_WORD_SIZE_MAX || size > rest->size)
        return false;
    letters = bytes_make(rest->data, (size_t)size);
    for (size_t i = 0; i < letters.size; i++) {
        if (letters.data[i] == 0 || letters.data[i] >= LETTER_END)
            return false;
    }
    *rest = bytes_skip(*rest, letters.size);
    if (!varint_get(rest, &seen) || seen == 0 || seen > UINT32_MAX)
        return false;
    *id = words_add(words, letters.data, letters.size);
    if (*id != WORDID_NONE)
        words_see(words, *id, (uint32_t)seen);
    return true;
}

static bool take_pair(struct bytes *rest, const wordid *ids, uint64_t id_count, struct pairs *pairs)
{
    uint64_t first, second, count;

    if (!varint_get(rest, &first) || !varint_get(rest, &second) || !varint_get(rest, &count) ||
        first >= id_count || second >= id_count || count > UINT32_MAX)
        return false;
    if (ids[first] != WORDID_NONE && ids[second] != WORDID_NONE)
        pairs_add(pairs, ids[first], ids[second], (uint32_t)count);
    return true;
}

static bool take_all(struct bytes rest, wordid *ids, uint64_t word_count, struct words *words,
                     struct pairs *pairs)
{
    uint64_t pair_count;

    for (uint64_t i = 0; i < word_count; i++) {
        if (!take_word(&rest, words, &ids[i]))
            return false;
    }
    if (!varint_get(&rest, &pair_count))
        return false;
    for (uint64_t i = 0; i < pair_count; i++) {
        if (!take_pair(&rest, ids, word_count, pairs))
            return false;
    }
    return rest.size == 0;
}

int snapshot_read(struct bytes file, struct buf *note, struct words *words, struct pairs *pairs,
                  struct err *err)
{
    struct bytes rest;
    uint64_t note_size, word_count;
    wordid *ids;
    bool is_whole;

    if (file.size < HEAD_SIZE || memcmp(file.data, magic, MAGIC_SIZE) != 0)
        return err_set(err, ERR_CORRUPT, "it does not begin with \"torg learnt 2\"");
    rest = bytes_skip(file, HEAD_SIZE);
    if (crc32c(0, rest) != get_le32(file.data + MAGIC_SIZE))
        return err_set(err, ERR_CORRUPT, "its checksum is wrong");
    if (!varint_get(&rest, &note_size) || note_size > rest.size)
        return err_set(err, ERR_CORRUPT, "its note is cut short");
    buf_put(note, bytes_make(rest.data, (size_t)note_size));
    rest = bytes_skip(rest, (size_t)note_size);
    if (!varint_get(&rest, &word_count) || word_count > SPELL_WORD_COUNT_MAX)
        return err_set(err, ERR_CORRUPT, "its count of words is not one");
    ids = mem_array((size_t)word_count + 1, sizeof(*ids));
    is_whole = take_all(rest, ids, word_count, words, pairs);
    free(ids);
    if (!is_whole)
        return err_set(err, ERR_CORRUPT, "its words or pairs are not well formed");
    return 0;
}

int snapshot_load(const char *path, struct buf *note, struct words *words, struct pairs *pairs,
                  struct err *err)
{
    struct buf file = BUF_INIT(SPELL_SNAPSHOT_SIZE_MAX);
    int rc = file_read(path, &file, err);

    if (!rc)
        rc = snapshot_read(buf_bytes(&file), note, words, pairs, err);
    buf_release(&file);
    return rc;
}
