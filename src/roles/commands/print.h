/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - what the commands' outputs share. */
#ifndef TORG_ROLES_COMMANDS_PRINT_H
#define TORG_ROLES_COMMANDS_PRINT_H

#include "base/arena.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "torg/v1/inspect.pb-c.h"

/* Prints a message as JSON, one line. */
void print_json(const ProtobufCMessage *message);

/* "2026-11-15T08:41:26Z", or "-" for none; in the arena. */
const char *time_text(const Google__Protobuf__Timestamp *timestamp, struct arena *arena);

/* When everything was equal last, and what differed in the auditor's last round; nothing before the
 * first. */
void print_audit(const Torg__V1__Audit *audit, struct arena *arena);

#endif
