/* SPDX-License-Identifier: Apache-2.0 */
/* name.c - see name.h. */
#include "snippets/config/name.h"

#include <stdbool.h>

#include "base/text.h"
#include "snippets/bounds.h"

static bool is_name_char(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

int snippet_name_check(struct bytes name, struct err *err)
{
    bool has_other = false;
    size_t i, size = 0, depth = 1;

    if (name.size > SNIPPET_NAME_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a name of %zu bytes; the limit is %d (SNIPPET_NAME_SIZE_MAX)", name.size,
                       SNIPPET_NAME_SIZE_MAX);
    for (i = 0; i <= name.size; i++) {
        if (i == name.size || name.data[i] == '/') {
            if (size == 0)
                return err_set(err, ERR_INVALID, "a name has an empty part");
            if (!has_other)
                return err_set(err, ERR_INVALID, "a part of a name consists only of dots");
            depth += i < name.size;
            size = 0;
            has_other = false;
            continue;
        }
        if (!is_name_char(name.data[i]))
            return err_set(err, ERR_INVALID,
                           "a name has only lower-case ASCII letters, digits, _ and ., "
                           "with / between its parts");
        has_other |= name.data[i] != '.';
        size++;
    }
    if (depth > SNIPPET_NAME_DEPTH_MAX)
        return err_set(err, ERR_LIMIT,
                       "a name of %zu parts; the limit is %d "
                       "(SNIPPET_NAME_DEPTH_MAX)",
                       depth, SNIPPET_NAME_DEPTH_MAX);
    return 0;
}

int snippet_key_check(struct bytes key, struct err *err)
{
    size_t i;

    if (key.size == 0)
        return err_set(err, ERR_INVALID, "the key is empty");
    if (key.size > SNIPPET_KEY_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "a key of %zu bytes; the limit is %d (SNIPPET_KEY_SIZE_MAX)",
                       key.size, SNIPPET_KEY_SIZE_MAX);
    if (!text_is_utf8(key))
        return err_set(err, ERR_INVALID, "the key is not valid UTF-8");
    for (i = 0; i < key.size; i++) {
        if (key.data[i] < 0x20 || key.data[i] == 0x7f)
            return err_set(err, ERR_INVALID, "the key has a control character");
    }
    return 0;
}

int snippet_language_check(struct bytes language, struct err *err)
{
    size_t i;

    if (language.size > SNIPPET_LANGUAGE_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "a language of %zu bytes; the limit is %d "
                       "(SNIPPET_LANGUAGE_SIZE_MAX)",
                       language.size, SNIPPET_LANGUAGE_SIZE_MAX);
    for (i = 0; i < language.size; i++) {
        uint8_t c = language.data[i];

        if (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') &&
            (c != '-' || i == 0))
            return err_set(err, ERR_INVALID,
                           "a language is letters, digits and hyphens: ru, en-GB");
    }
    return 0;
}
