/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - TLS on a non-blocking socket, by OpenSSL: ALPN h2 and http/1.1.
 *
 * 1.3, and 1.2 only with ECDHE and an AEAD cipher: a key that is stolen later decrypts nothing that
 * was recorded before. Certificates are read again when their files change; open connections
 * continue with the old ones.
 */
#ifndef TORG_NET_SERVER_LOOP_TLS_H
#define TORG_NET_SERVER_LOOP_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tls_context;
struct ssl_st; /* OpenSSL's SSL */

/* What reading and writing return besides a count; 0 is the peer's end. */
enum { IO_AGAIN = -1, IO_FAILED = -2, IO_WANT_WRITE = -3 };

int tls_context_new(const char *certificate, const char *key, const char *client_ca,
                    bool client_required, struct tls_context **context, struct err *err);
void tls_context_free(struct tls_context *context); /* NULL is fine */
/* Reads the files again if one has changed: 1 when new connections get others from now on, 0 when
 * none has. A failure changes nothing; it is tried again, and told in *is_news the first time. */
int tls_context_refresh(struct tls_context *context, bool *is_news, struct err *err);

struct ssl_st *tls_open(struct tls_context *context, int fd);
void tls_close(struct ssl_st *tls); /* says goodbye if it can without waiting; NULL is fine */

int tls_handshake(struct ssl_st *tls); /* 1 when done, else one of IO_* */
bool tls_chose_http2(struct ssl_st *tls);
/* The common name of a checked client certificate; "" when there is none. */
void tls_peer_name(struct ssl_st *tls, char *name, size_t size);

ssize_t tls_read(struct ssl_st *tls, void *to, size_t size);
ssize_t tls_write(struct ssl_st *tls, const void *from, size_t size);

#endif
