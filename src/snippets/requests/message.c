/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - see message.h. */
#include "snippets/requests/message.h"

#include "codec/message.h"
#include "codec/moment.h"

Torg__V1__Snippet *snippet_message(const struct snippet_found *found, struct arena *arena)
{
    Torg__V1__Snippet *message = MESSAGE_NEW(snippet, arena);

    message->name = (char *)found->name;
    message->key = (char *)found->row.key.data;
    message->language = (char *)found->row.language.data;
    message->format = (Torg__V1__SnippetFormat)(found->format + 1);
    if (found->format == SNIPPET_PB || found->format == SNIPPET_BINARY) {
        message->binary.data = (uint8_t *)found->row.body.data;
        message->binary.len = found->row.body.size;
    } else {
        message->text = (char *)found->row.body.data;
    }
    if (found->row.written_us)
        message->update_time = moment_message(found->row.written_us, arena);
    if (found->row.written_us && found->row.end_us != SNIPPET_FOR_EVER)
        message->end_time = moment_message(found->row.end_us, arena);
    return message;
}

Torg__V1__Snippet **snippet_messages(const struct snippet_found *found, size_t count,
                                     struct arena *arena)
{
    Torg__V1__Snippet **list = arena_array(arena, count + 1, sizeof(*list));

    for (size_t i = 0; i < count; i++)
        list[i] = snippet_message(&found[i], arena);
    return list;
}

struct bytes *snippet_texts(char *const *texts, size_t count, struct arena *arena)
{
    struct bytes *list = arena_array(arena, count + 1, sizeof(*list));
    size_t i;

    for (i = 0; i < count; i++)
        list[i] = bytes_of(texts[i]);
    return list;
}
