/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_synonyms.c - torg synonyms check, diff, apply, list, proposals. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/message.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "search/bounds.h"
#include "search/synonyms/synonym_sets.h"
#include "torg/v1/synonym.pb-c.h"

/* --- the file --- */

/* Reads and checks it; what is wrong has been told when this gives another code than EXIT_OK. */
static enum exit_code load(const struct invocation *invocation, const char **text,
                           struct synonym_rules *rules)
{
    const char *path = invocation->arguments[0];
    struct violations faults = violations_in(invocation->arena);
    struct buf content = BUF_INIT(SYNONYM_FILE_SIZE_MAX + 1);
    enum exit_code code = EXIT_OK;
    struct err err;
    int rc = file_read(path, &content, &err);

    if (rc) {
        code = fail(&err);
    } else if (synonyms_parse(buf_bytes(&content), invocation->arena, rules, &faults, &err)) {
        code = EXIT_FAILED;
        for (const struct violation *one = faults.first; one; one = one->next)
            fprintf(stderr, "%s: %s: %s\n", path, one->field, one->reason);
        if (!faults.count)
            complain("%s: %s", path, err.text);
    }
    if (!code && content.size && memchr(content.data, '\0', content.size)) {
        complain("%s: has a zero byte", path);
        code = EXIT_FAILED;
    }
    if (!code)
        *text = arena_text(invocation->arena, buf_bytes(&content));
    buf_release(&content);
    return code;
}

/* The option, or what the file is called: "ru.txt". */
static const char *language_of_file(const struct invocation *invocation)
{
    const char *language = invocation_option(invocation, "language");
    const char *path = invocation->arguments[0];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return language ? language
                    : arena_text(invocation->arena, bytes_make(name, strcspn(name, ".")));
}

/* EXIT_OK: the language has a name. */
static enum exit_code check_language(const struct invocation *invocation, const char *language)
{
    struct err err;

    if (!synonym_language_check(language, &err))
        return EXIT_OK;
    if (invocation_option(invocation, "language"))
        complain("--%s", err.text);
    else
        complain("%s is not called by its language: call it ru.txt, or say --language ru",
                 invocation->arguments[0]);
    return EXIT_USAGE;
}

enum exit_code cmd_synonyms_check(const struct invocation *invocation)
{
    Torg__V1__SynonymChange found = TORG__V1__SYNONYM_CHANGE__INIT;
    struct synonym_rules rules;
    const char *text;
    enum exit_code code;

    object_check(invocation, INVOCATION_MAGIC);
    code = load(invocation, &text, &rules);
    if (code)
        return code;
    found.rule_count = (int32_t)rules.count;
    if (invocation->json)
        print_json(&found.base);
    else
        printf("%s: %zu rules: nothing wrong\n", invocation->arguments[0], rules.count);
    return EXIT_OK;
}

/* --- changes --- */

static void print_change(const Torg__V1__SynonymChange *change)
{
    for (size_t i = 0; i < change->n_removed; i++)
        printf("- %s\n", change->removed[i]);
    for (size_t i = 0; i < change->n_added; i++)
        printf("+ %s\n", change->added[i]);
    printf("%s: %zu added, %zu removed\n", change->language, change->n_added, change->n_removed);
}

enum exit_code cmd_synonyms_diff(const struct invocation *invocation)
{
    Torg__V1__DiffSynonymsRequest request = TORG__V1__DIFF_SYNONYMS_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    struct synonym_rules rules;
    const char *text, *language = language_of_file(invocation);
    enum exit_code code;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    code = check_language(invocation, language);
    code = code ? code : load(invocation, &text, &rules);
    if (code)
        return code;
    request.language = (char *)language;
    request.text = (char *)text;
    if (desk_ask(invocation, false, &torg__v1__synonym_service__descriptor, "DiffSynonyms",
                 &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        print_change((const Torg__V1__SynonymChange *)response);
    return EXIT_OK;
}

static int read_expected(const struct invocation *invocation,
                         Torg__V1__ApplySynonymsRequest *request, struct err *err)
{
    const char *expect = invocation_option(invocation, "expect");

    if (!expect)
        return 0;
    if (!text_to_i64(bytes_of(expect), &request->expected_version) || request->expected_version < 0)
        return err_set(err, ERR_INVALID, "--expect=%.64s: expected a version's number", expect);
    request->_expected_version_case =
        TORG__V1__APPLY_SYNONYMS_REQUEST___EXPECTED_VERSION_EXPECTED_VERSION;
    return 0;
}

enum exit_code cmd_synonyms_apply(const struct invocation *invocation)
{
    Torg__V1__ApplySynonymsRequest request = TORG__V1__APPLY_SYNONYMS_REQUEST__INIT;
    const Torg__V1__SynonymChange *change;
    ProtobufCMessage *response = NULL;
    struct synonym_rules rules;
    const char *text, *language = language_of_file(invocation);
    enum exit_code code;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    code = check_language(invocation, language);
    code = code ? code : load(invocation, &text, &rules);
    if (code)
        return code;
    request.language = (char *)language;
    request.text = (char *)text;
    if (read_expected(invocation, &request, &err) ||
        desk_ask(invocation, true, &torg__v1__synonym_service__descriptor, "ApplySynonyms",
                 &request.base, &response, &err))
        return fail(&err);
    change = (const Torg__V1__SynonymChange *)response;
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    print_change(change);
    if (change->to_version == change->from_version)
        puts("nothing differs: what is in force stays");
    else
        printf("version %" PRId64 " is in force\n", change->to_version);
    return EXIT_OK;
}

/* --- looking --- */

enum exit_code cmd_synonyms_list(const struct invocation *invocation)
{
    Torg__V1__ListSynonymsRequest request = TORG__V1__LIST_SYNONYMS_REQUEST__INIT;
    const char *language = invocation_option(invocation, "language");
    const Torg__V1__ListSynonymsResponse *answer;
    ProtobufCMessage *response = NULL;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.language = (char *)(language ? language : "");
    if (desk_ask(invocation, false, &torg__v1__synonym_service__descriptor, "ListSynonyms",
                 &request.base, &response, &err))
        return fail(&err);
    answer = (const Torg__V1__ListSynonymsResponse *)response;
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    if (language && !answer->n_sets) {
        complain("no synonyms were ever applied in \"%.40s\"", language);
        return EXIT_NOT_FOUND;
    }
    for (size_t i = 0; i < answer->n_sets; i++) {
        const Torg__V1__SynonymSet *set = answer->sets[i];

        if (language)
            fputs(set->text, stdout);
        else
            printf("%s: version %" PRId64 ", %d rules, applied by %s\n", set->language,
                   set->version, set->rule_count, set->applied_by);
    }
    if (!answer->n_sets)
        puts("no synonyms are in force: torg synonyms apply FILE");
    return EXIT_OK;
}

static void print_proposal(const Torg__V1__SynonymProposal *proposal)
{
    printf("%s    # %" PRId64 " visits:", proposal->rule, proposal->visit_count);
    for (size_t i = 0; i < proposal->n_examples; i++)
        printf("%s %s", i ? ";" : "", proposal->examples[i]);
    putchar('\n');
}

enum exit_code cmd_synonyms_proposals(const struct invocation *invocation)
{
    Torg__V1__ListSynonymProposalsRequest request = TORG__V1__LIST_SYNONYM_PROPOSALS_REQUEST__INIT;
    const char *limit = invocation_option(invocation, "limit");
    const Torg__V1__ListSynonymProposalsResponse *answer;
    ProtobufCMessage *response = NULL;
    struct err err;
    int64_t count = 0;

    object_check(invocation, INVOCATION_MAGIC);
    if (limit && (!text_to_i64(bytes_of(limit), &count) || count < 1 ||
                  count > SYNONYM_PROPOSAL_COUNT_MAX)) {
        complain("--limit=%.40s: expected 1 to %d", limit, SYNONYM_PROPOSAL_COUNT_MAX);
        return EXIT_USAGE;
    }
    request.limit = (int32_t)count;
    if (desk_ask(invocation, false, &torg__v1__synonym_service__descriptor, "ListSynonymProposals",
                 &request.base, &response, &err))
        return fail(&err);
    answer = (const Torg__V1__ListSynonymProposalsResponse *)response;
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    for (size_t i = 0; i < answer->n_proposals; i++)
        print_proposal(answer->proposals[i]);
    if (!answer->n_proposals)
        puts("nothing is proposed: visitors found what they typed, or too few retyped it");
    return EXIT_OK;
}
