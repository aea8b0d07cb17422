/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: text of any kind. Tokens lie in the source, in order, and fold to themselves. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "index/bounds.h"
#include "index/text/analysis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct analysis *analysis = analysis_new();
    struct analysis *again = analysis_new();
    struct token_list list = analysis_run(analysis, bytes_make(data, size));
    uint32_t position = 0;

    for (size_t i = 0; i < list.count; i++) {
        const struct token *token = &list.tokens[i];
        struct token_list inner = analysis_run(again, token->form);
        struct bytes stem = analysis_stem(again, token->form, token->script);
        bool found = false;

        assert(token->size > 0 && (size_t)token->start + token->size <= size);
        assert(token->form.size > 0 && token->form.size <= TOKEN_SIZE_MAX);
        assert(text_is_utf8(token->form));
        assert(stem.size > 0 && stem.size <= TOKEN_SIZE_MAX);
        assert(token->position >= position && token->position < list.position_count);
        position = token->position;
        for (size_t k = 0; k < inner.count; k++)
            found = found || bytes_equal(inner.tokens[k].form, token->form);
        assert(found && (token->kind == TOKEN_QUANTITY || inner.count == 1));
    }
    analysis_free(analysis);
    analysis_free(again);
    return 0;
}
