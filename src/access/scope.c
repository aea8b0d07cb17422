/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - see scope.h. */
#include "access/scope.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"

const struct scope scope_table[] = {
    {"*", "everything"},
    {"admin", "manage keys, read the audit log"},
    {"catalog", "change categories and attributes"},
    {"documents", "send documents to the registry, read them back"},
    {"metrics", "read the state and the figures of the server"},
    {"moderation", "decide on offers"},
    {"offers.read", "read offers, drafts and rejections included"},
    {"offers.write", "create and change offers"},
    {"photos", "upload photos"},
    {"search", "search and read snippets"},
    {"stages", "steer the pipeline: queues, epochs, numbers"},
};
const size_t scope_count = ARRAY_COUNT(scope_table);

static bool is_known(const char *name)
{
    for (size_t i = 0; i < scope_count; i++) {
        if (strcmp(scope_table[i].name, name) == 0)
            return true;
    }
    return false;
}

static int refuse_unknown(const char *name, struct err *err)
{
    struct buf known = BUF_INIT(ERR_TEXT_SIZE);

    for (size_t i = 0; i < scope_count; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", scope_table[i].name);
    err_set(err, ERR_INVALID, "unknown scope \"%.64s\"; those known are %s", name,
            buf_text(&known));
    buf_release(&known);
    return ERR_INVALID;
}

static bool is_named_before(const char *const *names, size_t place)
{
    for (size_t i = 0; i < place; i++) {
        if (strcmp(names[i], names[place]) == 0)
            return true;
    }
    return false;
}

int scopes_join(const char *const *names, size_t count, char scopes[IDENTITY_SCOPES_SIZE],
                struct err *err)
{
    struct buf joined = BUF_INIT(IDENTITY_SCOPES_SIZE - 1); /* all of them fit, each once */
    int rc = 0;

    scopes[0] = 0;
    if (!count)
        return err_set(err, ERR_INVALID, "a key needs at least one scope");
    for (size_t i = 0; i < count && !rc; i++) {
        if (!is_known(names[i]))
            rc = refuse_unknown(names[i], err);
        else if (!is_named_before(names, i))
            buf_printf(&joined, "%s%s", i ? " " : "", names[i]);
    }
    assert(!buf_failed(&joined));
    if (!rc)
        memcpy(scopes, buf_text(&joined), joined.size + 1);
    buf_release(&joined);
    return rc;
}
