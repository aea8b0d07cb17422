/* SPDX-License-Identifier: Apache-2.0 */
/* stem_words.c - reads words, one a line, and writes "form stem" of each token; for stems.py. */
#include <stdio.h>
#include <string.h>

#include "index/text/analysis.h"

int main(void)
{
    struct analysis *analysis = analysis_new();
    char line[1024];

    while (fgets(line, sizeof(line), stdin)) {
        struct token_list list = analysis_run(analysis, bytes_make(line, strcspn(line, "\n")));

        for (size_t i = 0; i < list.count; i++) {
            struct bytes form = list.tokens[i].form;
            struct bytes stem = analysis_stem(analysis, form, list.tokens[i].script);

            printf("%.*s %.*s\n", BYTES_ARG(form), BYTES_ARG(stem));
        }
    }
    analysis_free(analysis);
    return 0;
}
