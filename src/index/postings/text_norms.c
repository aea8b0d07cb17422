/* SPDX-License-Identifier: Apache-2.0 */
/* text_norms.c - see text_norms.h. */
#include "index/postings/text_norms.h"

#include <assert.h>

static const float norm_b = 0.75F;

void text_lengths_add(struct text_lengths *lengths, uint32_t packed)
{
    for (unsigned field = 0; field < TEXT_NORM_FIELD_COUNT; field++) {
        uint8_t code = (uint8_t)(packed >> field * 8);

        lengths->sums[field] += doc_length_value(code);
        lengths->counts[field] += code != 0;
    }
}

void text_lengths_take(struct text_lengths *lengths, uint32_t packed)
{
    for (unsigned field = 0; field < TEXT_NORM_FIELD_COUNT; field++) {
        uint8_t code = (uint8_t)(packed >> field * 8);

        assert(lengths->sums[field] >= doc_length_value(code) &&
               lengths->counts[field] >= (code != 0)); /* it was added */
        lengths->sums[field] -= doc_length_value(code);
        lengths->counts[field] -= code != 0;
    }
}

void text_lengths_averages(const struct text_lengths *lengths,
                           float averages[TEXT_NORM_FIELD_COUNT])
{
    for (unsigned field = 0; field < TEXT_NORM_FIELD_COUNT; field++)
        averages[field] =
            lengths->counts[field] && lengths->sums[field]
                ? (float)((double)lengths->sums[field] / (double)lengths->counts[field])
                : 1;
}

void text_norms_make(struct text_norms *norms, const float averages[TEXT_NORM_FIELD_COUNT])
{
    for (unsigned field = 0; field < TEXT_NORM_FIELD_COUNT; field++)
        for (unsigned code = 0; code < 256; code++)
            norms->of_length[field][code] =
                1 /
                (1 - norm_b + norm_b * (float)doc_length_value((uint8_t)code) / averages[field]);
}
