/* SPDX-License-Identifier: Apache-2.0 */
/* sim_disk.c - see sim_disk.h. */
#include "sim_disk.h"
#include "sim.h"
void sim_disk_open(void *m)
{
    (void)m;
}
void sim_disk_begin(void)
{
}
void sim_disk_lose_power(void)
{
}
void sim_disk_full(bool f)
{
    (void)f;
}
