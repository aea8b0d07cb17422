/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopper.h - SIGTERM, SIGINT and SIGHUP of a serving process.
 *
 * A thread of its own takes them, so a start that waits for a silent database can be broken off:
 * while starting a signal ends the process at once; once it serves, the first one asks it to
 * stop and a second one ends it at once. Ending at once is as safe as kill -9.
 */
#ifndef TORG_ROLES_PROCESSES_STOPPER_H
#define TORG_ROLES_PROCESSES_STOPPER_H

/* Before any other thread starts: threads inherit that the signals are not for them. */
void stopper_start(void);

/* From here on the first signal asks for an orderly stop. Before others are told of the server:
 * who has read that it is up may stop it. */
void stopper_serve(void);

/* Returns when the process is asked to stop, with the signal's number. */
int stopper_wait(void);

#endif
