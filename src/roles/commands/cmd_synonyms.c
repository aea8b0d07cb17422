/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_synonyms.c - torg synonyms check, unused, diff, apply, list, proposals. */
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
#include "torg/v1/search.pb-c.h"
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

/* --- words that nothing has --- */

struct looking {
    const struct invocation *invocation;
    struct desk desk;
    size_t told;
};

/* How many offers have it, as it stands: of what is in quotes nothing is corrected or expanded. */
static int count_offers(struct looking *looking, const char *term, uint64_t *count, struct err *err)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;
    struct arena *arena = looking->invocation->arena;
    char *text = arena_printf(arena, "\"%s\"", term);
    ProtobufCMessage *response = NULL;
    int rc;

    for (char *at = text + 1; at[1]; at++)
        *at = *at == '"' ? ' ' : *at; /* 5": a quote inside would end the phrase */
    request.text = text;
    request.all_words = request.keep_spelling = request.only_offers = true;
    request._limit_case = TORG__V1__SEARCH_OFFERS_REQUEST___LIMIT_LIMIT;
    rc = desk_call(&looking->desk, &torg__v1__search_service__descriptor, "SearchOffers",
                   &request.base, &response, err);
    *count = rc ? 0 : ((const Torg__V1__SearchOffersResponse *)response)->total;
    return rc;
}

/* Of a one-way rule each word on the right that no offer has is for nothing; of the other kind,
 * whose sides are the same, all of them are when none is on offer. */
static int look_at_rule(struct looking *looking, const struct synonym_rule *rule, struct err *err)
{
    bool is_one_way = strcmp(rule->from[0], rule->to[0]) != 0, is_any = false;
    const char *path = looking->invocation->arguments[0];
    int rc = 0;

    for (size_t i = 0; i < rule->to_count && !rc && (is_one_way || !is_any); i++) {
        uint64_t count;

        rc = count_offers(looking, rule->to[i], &count, err);
        is_any = is_any || count;
        if (!rc && !count && is_one_way) {
            printf("%s: line %zu: no offer has \"%s\"\n", path, rule->line, rule->to[i]);
            looking->told++;
        }
    }
    if (!rc && !is_any && !is_one_way) {
        printf("%s: line %zu: no offer has any of: %s\n", path, rule->line, rule->text);
        looking->told++;
    }
    return rc;
}

enum exit_code cmd_synonyms_unused(const struct invocation *invocation)
{
    struct looking looking = {.invocation = invocation};
    struct synonym_rules rules;
    enum exit_code code;
    const char *text;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    code = load(invocation, &text, &rules);
    if (code)
        return code;
    rc = desk_open(invocation, false, &looking.desk, &err);
    if (rc)
        return fail(&err);
    for (size_t i = 0; i < rules.count && !rc; i++) {
        if (!rules.list[i].is_refusal)
            rc = look_at_rule(&looking, &rules.list[i], &err);
    }
    desk_close(&looking.desk);
    if (rc)
        return fail(&err);
    if (!looking.told)
        printf("%s: offers have the words of all rules\n", invocation->arguments[0]);
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
