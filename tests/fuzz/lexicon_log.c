/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: lexicon.log. The first byte says how the rest is used: even, the bytes behind the
 * header as they are; odd, the entries of one frame, whose checksum is made right, or nothing would
 * get past it (the second byte is their count). What opens must open again with the same words.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"
#include "index/text/lexicon.h"

enum { HEADER_SIZE = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_header(struct buf *out)
{
    uint8_t header[HEADER_SIZE] = "TORGLEX1"; /* salt 0 */

    put_le32(header + 8, 1);
    put_le32(header + 12, ANALYSIS_VERSION);
    put_le32(header + 28, crc32c(0, bytes_make(header, 28)));
    buf_put_raw(out, header, sizeof(header));
}

static void put_frame(struct buf *out, uint32_t count, struct bytes entries)
{
    static const uint8_t salt[8];
    uint8_t header[HEADER_SIZE] = "TLF1";
    uint32_t crc = crc32c(0, bytes_make(salt, sizeof(salt)));

    put_le32(header + 8, (uint32_t)entries.size);
    put_le32(header + 12, count);
    put_le64(header + 24, HEADER_SIZE);
    crc = crc32c(crc32c(crc, bytes_make(header + 8, sizeof(header) - 8)), entries);
    put_le32(header + 4, crc);
    buf_put_raw(out, header, sizeof(header));
    buf_put(out, entries);
}

static int open_words(int fd, struct lexicon_sizes *sizes)
{
    struct lexicon *lexicon;
    struct err err;
    char path[64];
    int rc;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    rc = lexicon_open(path, 0, &lexicon, &err);
    if (rc)
        return rc;
    *sizes = lexicon_sizes(lexicon);
    for (termid term = 0; term < sizes->term_count; term++) {
        struct lexicon_entry entry = {term, 0};

        assert(lexicon_term(lexicon, term).size > 0);
        assert(lexicon_find(lexicon, lexicon_form(lexicon, entry), &entry));
        assert(entry.term == term && entry.form == 0);
    }
    lexicon_close(lexicon);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf content = BUF_INIT(4 << 20);
    struct lexicon_sizes first, second;
    int fd = memfd_create("lexicon", MFD_CLOEXEC);

    log_setup(LOG_FORMAT_HUMAN, LOG_LEVEL_ERROR, STDERR_FILENO);
    if (fd >= 0 && size >= 2 && size < 1 << 20) {
        put_header(&content);
        if (data[0] % 2)
            put_frame(&content, data[1], bytes_make(data + 2, size - 2));
        else
            buf_put_raw(&content, data + 1, size - 1);
        assert(file_write_all(fd, buf_bytes(&content), NULL) == 0);
        if (open_words(fd, &first) == 0) {
            assert(open_words(fd, &second) == 0);
            assert(first.form_count == second.form_count && first.file_size == second.file_size);
        }
    }
    if (fd >= 0)
        close(fd);
    buf_release(&content);
    return 0;
}
