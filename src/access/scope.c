/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - see scope.h. */
#include "access/scope.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"

const struct scope scope_table[] = {
    {"*", "everything", true},
    {"admin", "manage keys, read the audit log", true},
    {"catalog", "change categories and attributes", true},
    {"documents", "send documents to the registry, read them back", true},
    {"epochs", "start, switch, roll back and abandon epochs of the index", true},
    {"metrics", "read the state and the figures of the server", true},
    {"moderation", "decide on offers", true},
    {"offers.read", "read offers, drafts and rejections included", false},
    {"offers.write", "create and change offers", false},
    {"photos", "upload photos", false},
    {"search", "search and read snippets", true},
    {"stages", "states of stages, queues, what is parked; look at the pipeline", true},
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
    err_set(err, ERR_INVALID, "unknown scope \"%.64s\"; known are %s", name, buf_text(&known));
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

static bool is_of_site(const char *name)
{
    for (size_t i = 0; i < scope_count; i++) {
        if (strcmp(scope_table[i].name, name) == 0)
            return scope_table[i].is_of_site;
    }
    return false;
}

int scopes_check_seller(const char *const *names, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (is_of_site(names[i]))
            return err_set(err, ERR_INVALID,
                           "\"%s\" opens what belongs to all sellers, and the key is bound to one: "
                           "leave the scope out, or make a key without a seller for it",
                           names[i]);
    }
    return 0;
}

/* Whether the word is among those. */
static bool is_among(const char *scopes, const char *name)
{
    size_t wanted = strlen(name);

    while (*scopes) {
        size_t size = strcspn(scopes, " ");

        if (size == wanted && memcmp(scopes, name, size) == 0)
            return true;
        scopes += size;
        scopes += strspn(scopes, " ");
    }
    return false;
}

bool scopes_keep_to_seller(char scopes[IDENTITY_SCOPES_SIZE])
{
    bool has_all = is_among(scopes, "*");
    struct buf kept = BUF_INIT(IDENTITY_SCOPES_SIZE - 1);
    bool is_less = false;

    for (size_t i = 0; i < scope_count; i++) {
        const struct scope *scope = &scope_table[i];

        if (!has_all && !is_among(scopes, scope->name))
            continue;
        is_less = is_less || scope->is_of_site;
        if (!scope->is_of_site)
            buf_printf(&kept, "%s%s", kept.size ? " " : "", scope->name);
    }
    assert(!buf_failed(&kept));
    if (is_less)
        memcpy(scopes, buf_text(&kept), kept.size + 1);
    buf_release(&kept);
    return is_less;
}
