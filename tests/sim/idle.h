/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - how often the tasks of a world with nothing to do wake up: each time is work in vain. */
#ifndef TORG_TESTS_SIM_IDLE_H
#define TORG_TESTS_SIM_IDLE_H

/* Looks for so long, and prints wakeups a second by the threads' names. */
void idle_measure(double seconds);

#endif
