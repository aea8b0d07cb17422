/* SPDX-License-Identifier: Apache-2.0 */
/* moment.h - microseconds since 1970 and the message that carries them. */
#ifndef TORG_CODEC_MOMENT_H
#define TORG_CODEC_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "codec/moment.h"
#include "google/protobuf/timestamp.pb-c.h"

Google__Protobuf__Timestamp *moment_message(int64_t us, struct arena *arena);
Google__Protobuf__Timestamp *moment_or_none(int64_t us, struct arena *arena); /* NULL for 0 */
/* Finer than a microsecond is cut off. False: it is not between the years 1 and 9999. */
bool moment_us(const Google__Protobuf__Timestamp *message, int64_t *us);
/* Of a message that we have made ourselves; 0 for NULL. */
int64_t moment_own_us(const Google__Protobuf__Timestamp *message);

#endif
