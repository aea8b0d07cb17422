/* SPDX-License-Identifier: Apache-2.0 */
/* operators.h - the second port: /livez, /readyz, /metrics. No credential: keep it inside. */
#ifndef TORG_NET_SERVER_CALLS_OPERATORS_H
#define TORG_NET_SERVER_CALLS_OPERATORS_H

struct call;

void operators_answer(struct call *call); /* the head is whole; replies at once */

#endif
