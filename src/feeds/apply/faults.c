/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - see faults.h. */
#include "feeds/apply/faults.h"

#include <stdio.h>
#include <string.h>

#include "catalog/bounds.h"
#include "offers/record/offer_content.h"

static const char ATTRIBUTE[] = "attributes.";
static const char CONTENT[] = "content.";

/* "content.price.amount" is about "price"; '"Power" (power) is required here' about
 * "attributes.power". */
static bool is_about(const struct violation *fault, const char *problem)
{
    const char *field = fault->field;
    size_t size = strlen(problem);
    char id[CATALOG_ID_SIZE_MAX + 3];

    if (strncmp(problem, ATTRIBUTE, sizeof(ATTRIBUTE) - 1) == 0) {
        snprintf(id, sizeof(id), "(%s)", problem + sizeof(ATTRIBUTE) - 1);
        return strstr(fault->reason, id) != NULL;
    }
    if (strncmp(field, CONTENT, sizeof(CONTENT) - 1) == 0)
        field += sizeof(CONTENT) - 1;
    return size && strncmp(field, problem, size) == 0 && (!field[size] || field[size] == '.');
}

static bool is_told(const struct violation *fault, const struct violation *first, size_t count)
{
    for (; count && first; first = first->next, count--) {
        if (is_about(fault, first->field))
            return true;
    }
    return false;
}

void feed_faults_add(const Torg__V1__OfferContent *content, const struct catalog *catalog,
                     enum language language, struct violations *problems)
{
    struct violations found = violations_in(problems->arena);
    size_t told_count = problems->count;

    if (!content || !*content->category)
        return;
    offer_content_check(content, catalog, language, &found, NULL);
    for (const struct violation *one = found.first; one; one = one->next) {
        if (!is_told(one, problems->first, told_count))
            violations_add(problems, one->field, "%s", one->reason);
    }
}
