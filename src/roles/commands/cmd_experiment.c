/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_experiment.c - torg experiment list: which of two formulas buyers click more. */
#include <inttypes.h>
#include <stdio.h>

#include "base/object.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/experiment.pb-c.h"

static void print_side(const char *name, const Torg__V1__ExperimentSide *side)
{
    const Torg__V1__ExperimentShare *rate = side->click_rate;

    printf("  %s: %s\n", name, side->formula);
    printf("    %" PRId64 " shows, %" PRId64 " clicks (%.2f %%, %.2f to %.2f), %" PRId64
           " contacts, %" PRId64 " lists won\n",
           side->shows, side->clicks, 100 * rate->share, 100 * rate->low, 100 * rate->high,
           side->contacts, side->lists_won);
}

static void print_share(const char *what, const Torg__V1__ExperimentShare *share)
{
    printf("  %s of tried: %.1f %% of %" PRId64 " (%.1f to %.1f with 95 %% probability): %s\n",
           what, 100 * share->share, share->count, 100 * share->low, 100 * share->high,
           share->low > 0.5    ? "it is better"
           : share->high < 0.5 ? "it is worse"
                               : "no difference is seen");
}

static void print_experiment(const Torg__V1__Experiment *experiment, struct arena *arena)
{
    printf("%s, %s, since %s\n", experiment->id, experiment->is_running ? "running" : "over",
           time_text(experiment->begin_time, arena));
    print_side("control", experiment->control);
    print_side("tried", experiment->tried);
    print_share("lists", experiment->lists);
    print_share("contacts", experiment->contacts);
}

enum exit_code cmd_experiment_list(const struct invocation *invocation)
{
    Torg__V1__ListExperimentsRequest request = TORG__V1__LIST_EXPERIMENTS_REQUEST__INIT;
    const Torg__V1__ListExperimentsResponse *answer;
    ProtobufCMessage *response = NULL;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (desk_ask(invocation, false, &torg__v1__experiment_service__descriptor, "ListExperiments",
                 &request.base, &response, &err))
        return fail(&err);
    answer = (const Torg__V1__ListExperimentsResponse *)response;
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    for (size_t i = 0; i < answer->n_experiments; i++)
        print_experiment(answer->experiments[i], invocation->arena);
    if (!answer->n_experiments)
        puts("no formulas are compared: set search.experiment");
    return EXIT_OK;
}
