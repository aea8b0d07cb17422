/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_manifest.c - see shard_manifest.h.
 *
 *     "TORGSHD1" | format u32 | T S V G u32 × 4 | epoch u64 | averages f32 × 4 | generation u64 |
 *     x0 u64 | x1 u64 | lexicon size u64 | segment number u64 | live size u64 | live hash u64 |
 *     dictionary hash u64 | segment count u32 | stored count u32 | note size u32 |
 *     number u64, size u64 a segment | number u32, size u32, records u32 a stored file | note |
 *     CRC-32C of all before u32
 */
#include "index/shard/shard_manifest.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "index/bounds.h"

enum {
    FORMAT = 2,
    HEAD_SIZE = 8 + 4 + 16 + 8 + 16 + 8 * 8 + 12,
    SEGMENT_SIZE = 16,
    STORED_SIZE = 12,
    SIZE_MAX_ALL = HEAD_SIZE + OWNER_COUNT * SEGMENT_SIZE + STORED_FILE_COUNT_MAX * STORED_SIZE +
                   SHARD_NOTE_SIZE_MAX + 4,
    PATH_SIZE = 4096,
};

static const uint8_t magic[8] = {'T', 'O', 'R', 'G', 'S', 'H', 'D', '1'};

static void put32(struct buf *out, uint32_t value)
{
    uint8_t bytes[4];

    put_le32(bytes, value);
    buf_put_raw(out, bytes, sizeof(bytes));
}

static void put64(struct buf *out, uint64_t value)
{
    uint8_t bytes[8];

    put_le64(bytes, value);
    buf_put_raw(out, bytes, sizeof(bytes));
}

static uint32_t take32(struct bytes *in)
{
    uint32_t value = get_le32(in->data);

    *in = bytes_skip(*in, 4);
    return value;
}

static uint64_t take64(struct bytes *in)
{
    uint64_t value = get_le64(in->data);

    *in = bytes_skip(*in, 8);
    return value;
}

static void encode(const struct manifest *manifest, struct buf *out)
{
    uint32_t bits, i;

    buf_put_raw(out, magic, sizeof(magic));
    put32(out, FORMAT);
    for (i = 0; i < 4; i++)
        put32(out, manifest->place[i]);
    put64(out, manifest->epoch);
    for (i = 0; i < SEGMENT_FIELD_COUNT; i++) {
        memcpy(&bits, &manifest->average_lengths[i], sizeof(bits));
        put32(out, bits);
    }
    put64(out, manifest->generation);
    put64(out, manifest->x0);
    put64(out, manifest->x1);
    put64(out, manifest->lexicon_size);
    put64(out, manifest->segment_number);
    put64(out, manifest->live_size);
    put64(out, manifest->live_hash);
    put64(out, manifest->dictionary_hash);
    put32(out, manifest->segment_count);
    put32(out, manifest->stored_count);
    put32(out, manifest->note.size);
    for (i = 0; i < manifest->segment_count; i++) {
        put64(out, manifest->segments[i].number);
        put64(out, manifest->segments[i].size);
    }
    for (i = 0; i < manifest->stored_count; i++) {
        put32(out, manifest->stored[i].number);
        put32(out, manifest->stored[i].size);
        put32(out, manifest->stored[i].record_count);
    }
    buf_put_raw(out, manifest->note.bytes, manifest->note.size);
    put32(out, crc32c(0, buf_bytes(out)));
}

/* The fixed part; the checksum was right. */
static void decode_head(struct manifest *manifest, struct bytes *in)
{
    uint32_t bits, i;

    *in = bytes_skip(*in, sizeof(magic) + 4);
    for (i = 0; i < 4; i++)
        manifest->place[i] = take32(in);
    manifest->epoch = take64(in);
    for (i = 0; i < SEGMENT_FIELD_COUNT; i++) {
        bits = take32(in);
        memcpy(&manifest->average_lengths[i], &bits, sizeof(bits));
    }
    manifest->generation = take64(in);
    manifest->x0 = take64(in);
    manifest->x1 = take64(in);
    manifest->lexicon_size = take64(in);
    manifest->segment_number = take64(in);
    manifest->live_size = take64(in);
    manifest->live_hash = take64(in);
    manifest->dictionary_hash = take64(in);
    manifest->segment_count = take32(in);
    manifest->stored_count = take32(in);
    manifest->note.size = take32(in);
}

static bool decode(struct manifest *manifest, struct bytes in)
{
    uint32_t i;

    if (in.size < HEAD_SIZE + 4 || memcmp(in.data, magic, sizeof(magic)) != 0 ||
        get_le32(in.data + sizeof(magic)) != FORMAT ||
        crc32c(0, bytes_make(in.data, in.size - 4)) != get_le32(in.data + in.size - 4))
        return false;
    decode_head(manifest, &in);
    if (manifest->segment_count > OWNER_COUNT || manifest->stored_count > STORED_FILE_COUNT_MAX ||
        manifest->note.size > SHARD_NOTE_SIZE_MAX ||
        in.size != (size_t)manifest->segment_count * SEGMENT_SIZE +
                       (size_t)manifest->stored_count * STORED_SIZE + manifest->note.size + 4)
        return false;
    for (i = 0; i < manifest->segment_count; i++) {
        manifest->segments[i].number = take64(&in);
        manifest->segments[i].size = take64(&in);
    }
    for (i = 0; i < manifest->stored_count; i++) {
        manifest->stored[i].number = take32(&in);
        manifest->stored[i].size = take32(&in);
        manifest->stored[i].record_count = take32(&in);
    }
    memcpy(manifest->note.bytes, in.data, manifest->note.size);
    return manifest->x0 <= manifest->x1;
}

int manifest_write(const struct manifest *manifest, const char *dir, struct err *err)
{
    struct buf out = BUF_INIT(SIZE_MAX_ALL);
    char path[PATH_SIZE];
    int rc;

    snprintf(path, sizeof(path), "%s/shard", dir);
    encode(manifest, &out);
    rc = buf_failed(&out) ? err_set(err, ERR_INTERNAL, "%s is too big", path)
                          : file_write(path, buf_bytes(&out), err);
    buf_release(&out);
    return rc;
}

int manifest_read(struct manifest *manifest, const char *dir, struct err *err)
{
    struct buf in = BUF_INIT(SIZE_MAX_ALL + 1);
    char path[PATH_SIZE];
    int rc;

    memset(manifest, 0, sizeof(*manifest));
    snprintf(path, sizeof(path), "%s/shard", dir);
    rc = file_read(path, &in, err);
    if (!rc && !decode(manifest, buf_bytes(&in)))
        rc = err_set(err, ERR_CORRUPT,
                     "%s is damaged, or of another format than %d: remove the directory and "
                     "rebuild the shard",
                     path, FORMAT);
    buf_release(&in);
    return rc;
}

/* Whether the name has the prefix and then one of the shard's numbers, which is given. */
static bool has_number(const char *name, const char *prefix, uint64_t *number)
{
    size_t size = strlen(prefix);
    int end = 0;
    uintmax_t found;

    if (strncmp(name, prefix, size) != 0 || name[size] < '0' || name[size] > '9' ||
        sscanf(name + size, "%ju%n", &found, &end) != 1)
        return false;
    *number = found;
    return name[size + (size_t)end] == 0 || name[size + (size_t)end] == '.';
}

static bool is_ours(const char *name)
{
    uint64_t number;

    return has_number(name, "segment-", &number) || has_number(name, "stored-", &number) ||
           has_number(name, "live-", &number) || has_number(name, "columns-", &number) ||
           has_number(name, "state-", &number) || has_number(name, "dictionary-", &number) ||
           strcmp(name, "lexicon.log") == 0 || strncmp(name, "shard.tmp.", 10) == 0;
}

static bool is_named(const struct manifest *manifest, const char *name)
{
    uint64_t number;
    uint32_t i;

    if (strchr(name, '.'))
        return strcmp(name, "lexicon.log") == 0; /* others are unfinished */
    if (has_number(name, "segment-", &number)) {
        for (i = 0; i < manifest->segment_count; i++) {
            if (manifest->segments[i].number == number)
                return true;
        }
        return false;
    }
    if (has_number(name, "dictionary-", &number))
        return manifest->dictionary_hash != 0;
    if (has_number(name, "stored-", &number)) {
        for (i = 0; i < manifest->stored_count; i++) {
            if (manifest->stored[i].number == number)
                return true;
        }
        return false;
    }
    return (has_number(name, "live-", &number) || has_number(name, "columns-", &number) ||
            has_number(name, "state-", &number)) &&
           number == manifest->generation;
}

void manifest_clean(const struct manifest *manifest, const char *dir, bool is_used)
{
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    char path[PATH_SIZE];
    uint64_t number;

    if (!entries)
        return;
    for (entry = readdir(entries); entry; entry = readdir(entries)) {
        if (!is_ours(entry->d_name) || is_named(manifest, entry->d_name) ||
            (is_used && (has_number(entry->d_name, "stored-", &number) ||
                         has_number(entry->d_name, "dictionary-", &number))) ||
            (is_used && has_number(entry->d_name, "segment-", &number) &&
             number > manifest->segment_number))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
        if (unlink(path))
            (void)dir_remove(path, NULL);
    }
    closedir(entries);
}

bool manifest_dir_is_empty(const char *dir)
{
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    bool found = false;

    if (!entries)
        return true;
    for (entry = readdir(entries); entry && !found; entry = readdir(entries))
        found = is_ours(entry->d_name) &&
                (!strchr(entry->d_name, '.') || strcmp(entry->d_name, "lexicon.log") == 0);
    closedir(entries);
    return !found;
}
