/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - see kernels.h. */
#include "index/postings/kernels.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

const struct kernels *kernels_vector(void)
{
#ifdef TORG_HAVE_AVX2
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return &kernels_avx2;
#endif
    return NULL;
}

/* Filled before main, so that hot paths read a constant and nobody has to be first. */
static const struct kernels *chosen = &kernels_portable;

__attribute__((constructor)) static void choose(void)
{
#ifndef UNDER_TSAN
    const struct kernels *vector = kernels_vector();

    if (vector)
        chosen = vector;
#endif
}

const struct kernels *kernels(void)
{
    return chosen;
}
