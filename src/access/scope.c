/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - see scope.h. */
#include "access/scope.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"

const struct scope scope_table[] = {
    {"*", "everything", 0},
    {"admin", "manage keys, read the audit log", 0},
    {"catalog", "change categories and attributes", 0},
    {"documents", "send documents to the registry, read them back", SCOPE_OF_CLIENT},
    {"epochs", "start, switch, roll back and abandon epochs of the index, load columns",
     SCOPE_OF_CLIENT},
    {"metrics", "read the state and the figures of the server", 0},
    {"moderation", "decide on offers", 0},
    {"offers.read", "read offers, drafts and rejections included", SCOPE_OF_SELLER},
    {"offers.write", "create and change offers", SCOPE_OF_SELLER},
    {"photos", "upload photos", SCOPE_OF_SELLER},
    {"pipeline.control", "replay and drop what failed, repair differences", SCOPE_OF_CLIENT},
    {"pipeline.read", "look at the pipeline, queues, epochs, what is parked", SCOPE_OF_CLIENT},
    {"search", "search", SCOPE_OF_CLIENT},
    {"sellers.act", "name the seller of each call (header Torg-Seller)", 0},
    {"snippets.read", "read snippets, their config and their state", 0},
    {"snippets.write", "put and delete snippets", 0},
    {"stages", "read and write the states that stages keep with offers", 0},
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

static unsigned bindings_of(const char *name)
{
    for (size_t i = 0; i < scope_count; i++) {
        if (strcmp(scope_table[i].name, name) == 0)
            return scope_table[i].bindings;
    }
    return 0;
}

int scopes_check_bound(const char *const *names, size_t count, unsigned bindings, struct err *err)
{
    const char *kind = bindings & SCOPE_OF_SELLER ? "seller" : "client";

    for (size_t i = 0; i < count && bindings; i++) {
        if (!(bindings_of(names[i]) & bindings))
            return err_set(err, ERR_INVALID,
                           "\"%s\" opens what belongs to all %ss, and the key is bound to one: "
                           "leave the scope out, or make a key without a %s for it",
                           names[i], kind, kind);
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

bool scopes_keep_bound(char scopes[IDENTITY_SCOPES_SIZE], unsigned bindings)
{
    bool has_all = is_among(scopes, "*");
    struct buf kept = BUF_INIT(IDENTITY_SCOPES_SIZE - 1);
    bool is_less = false;

    for (size_t i = 0; i < scope_count && bindings; i++) {
        const struct scope *scope = &scope_table[i];
        bool fits = scope->bindings & bindings;

        if (!has_all && !is_among(scopes, scope->name))
            continue;
        is_less = is_less || !fits;
        if (fits)
            buf_printf(&kept, "%s%s", kept.size ? " " : "", scope->name);
    }
    assert(!buf_failed(&kept));
    if (is_less)
        memcpy(scopes, buf_text(&kept), kept.size + 1);
    buf_release(&kept);
    return is_less;
}
