/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - see tls.h. */
#include "net/server/loop/tls.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"

enum { TLS_CONTEXT_MAGIC = OBJECT_MAGIC('t', 'l', 's', 'c') };

enum { FILE_CERTIFICATE, FILE_KEY, FILE_CLIENT_CA, FILE_COUNT };

struct tls_context {
    uint32_t magic;
    pthread_mutex_t lock;
    SSL_CTX *ctx; /* owned; guarded by lock: connections take it, a refresh replaces it */

    char *files[FILE_COUNT]; /* owned; NULL: not used */
    bool client_required;
    struct file_stamp stamps[FILE_COUNT]; /* when ctx was read; whoever refreshes is one thread */
    struct file_stamp failed[FILE_COUNT]; /* of the failure that was told last */
};

static const unsigned char session_context[] = "torg";

/* OpenSSL's first word is the cause ("No such file or directory", "no start line"), its later ones
 * only say which library passed it on. */
static int ssl_err(struct err *err, const char *what, const char *file)
{
    unsigned long code = ERR_peek_error();
    const char *reason = NULL;
    char text[128];

    if (ERR_SYSTEM_ERROR(code))
        reason = strerror_r(ERR_GET_REASON(code), text, sizeof(text));
    else if (code)
        reason = ERR_reason_error_string(code);
    err_set(err, ERR_INVALID, "%s %s: %s", what, file, reason ? reason : "unknown reason");
    ERR_clear_error();
    return ERR_INVALID;
}

/* The first of ours that the client also offers; none in common: HTTP/1.1 without saying so. */
static int choose_protocol(SSL *tls, const unsigned char **out, unsigned char *out_size,
                           const unsigned char *in, unsigned int in_size, void *arg)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    unsigned char *chosen;

    if (SSL_select_next_proto(&chosen, out_size, ours, sizeof(ours) - 1, in, in_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static int ask_for_certificates(SSL_CTX *ctx, const char *client_ca, bool required, struct err *err)
{
    STACK_OF(X509_NAME) * names;

    if (!SSL_CTX_load_verify_locations(ctx, client_ca, NULL))
        return ssl_err(err, "cannot load the client certificates' authority", client_ca);
    names = SSL_load_client_CA_file(client_ca);
    if (!names)
        return ssl_err(err, "cannot read", client_ca);
    SSL_CTX_set_client_CA_list(ctx, names); /* takes it */
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       NULL);
    return 0;
}

static int load_files(SSL_CTX *ctx, const struct tls_context *context, struct err *err)
{
    const char *certificate = context->files[FILE_CERTIFICATE];
    const char *key = context->files[FILE_KEY] ? context->files[FILE_KEY] : certificate;

    if (SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1)
        return ssl_err(err, "cannot load the TLS certificate", certificate);
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
        return ssl_err(err, "cannot load the TLS key", key);
    if (SSL_CTX_check_private_key(ctx) != 1)
        return ssl_err(err, "the TLS key does not belong to the certificate", certificate);
    if (context->files[FILE_CLIENT_CA])
        return ask_for_certificates(ctx, context->files[FILE_CLIENT_CA], context->client_required,
                                    err);
    return 0;
}

/* TLS 1.3 has no others. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL";

static int make_ctx(const struct tls_context *context, SSL_CTX **made, struct err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    int rc;

    if (!ctx || !SSL_CTX_set_cipher_list(ctx, ciphers)) {
        SSL_CTX_free(ctx);
        return err_set(err, ERR_UNAVAILABLE, "OpenSSL cannot make a server context");
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_id_context(ctx, session_context, sizeof(session_context) - 1);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    rc = load_files(ctx, context, err);
    if (rc)
        SSL_CTX_free(ctx);
    else
        *made = ctx;
    return rc;
}

static void look_at_files(const struct tls_context *context, struct file_stamp stamps[FILE_COUNT])
{
    memset(stamps, 0, FILE_COUNT * sizeof(stamps[0]));
    for (int i = 0; i < FILE_COUNT; i++)
        if (context->files[i])
            stamps[i] = file_stamp(context->files[i]);
}

static bool stamps_equal(const struct file_stamp a[FILE_COUNT],
                         const struct file_stamp b[FILE_COUNT])
{
    for (int i = 0; i < FILE_COUNT; i++)
        if (!file_stamps_equal(&a[i], &b[i]))
            return false;
    return true;
}

int tls_context_new(const char *certificate, const char *key, const char *client_ca,
                    bool client_required, struct tls_context **context, struct err *err)
{
    struct tls_context *made = mem_zero(sizeof(*made));
    int rc;

    object_begin(made, TLS_CONTEXT_MAGIC);
    *context = NULL;
    pthread_mutex_init(&made->lock, NULL);
    made->files[FILE_CERTIFICATE] = mem_strdup(certificate);
    made->files[FILE_KEY] = key ? mem_strdup(key) : NULL;
    made->files[FILE_CLIENT_CA] = client_ca ? mem_strdup(client_ca) : NULL;
    made->client_required = client_required;
    look_at_files(made, made->stamps);
    rc = make_ctx(made, &made->ctx, err);
    if (rc)
        tls_context_free(made);
    else
        *context = made;
    return rc;
}

int tls_context_refresh(struct tls_context *context, bool *is_news, struct err *err)
{
    struct file_stamp stamps[FILE_COUNT];
    SSL_CTX *fresh;
    SSL_CTX *old;
    int rc;

    object_check(context, TLS_CONTEXT_MAGIC);
    *is_news = false;
    look_at_files(context, stamps);
    if (stamps_equal(stamps, context->stamps))
        return 0;
    rc = make_ctx(context, &fresh, err);
    *is_news = !stamps_equal(stamps, context->failed);
    if (rc) { /* half of a change, perhaps: the rest will come */
        memcpy(context->failed, stamps, sizeof(stamps));
        return rc;
    }
    memcpy(context->stamps, stamps, sizeof(stamps));
    pthread_mutex_lock(&context->lock);
    old = context->ctx;
    context->ctx = fresh;
    pthread_mutex_unlock(&context->lock);
    SSL_CTX_free(old); /* its connections hold it as long as they need it */
    return 1;
}

void tls_context_free(struct tls_context *context)
{
    if (!context)
        return;
    object_check(context, TLS_CONTEXT_MAGIC);
    SSL_CTX_free(context->ctx);
    for (int i = 0; i < FILE_COUNT; i++)
        free(context->files[i]);
    pthread_mutex_destroy(&context->lock);
    object_end(context, TLS_CONTEXT_MAGIC);
    free(context);
}

struct ssl_st *tls_open(struct tls_context *context, int fd)
{
    SSL *tls;

    object_check(context, TLS_CONTEXT_MAGIC);
    pthread_mutex_lock(&context->lock);
    tls = SSL_new(context->ctx);
    pthread_mutex_unlock(&context->lock);
    if (!tls || !SSL_set_fd(tls, fd))
        abort(); /* out of memory */
    SSL_set_accept_state(tls);
    return tls;
}

void tls_close(struct ssl_st *tls)
{
    if (!tls)
        return;
    if (SSL_is_init_finished(tls))
        SSL_shutdown(tls);
    SSL_free(tls);
    ERR_clear_error();
}

static int io_result(SSL *tls, int rc)
{
    int reason = SSL_get_error(tls, rc);

    ERR_clear_error();
    switch (reason) {
    case SSL_ERROR_WANT_READ:
        return IO_AGAIN;
    case SSL_ERROR_WANT_WRITE:
        return IO_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return IO_FAILED;
    }
}

int tls_handshake(struct ssl_st *tls)
{
    int rc = SSL_do_handshake(tls);

    if (rc == 1)
        return 1;
    rc = io_result(tls, rc);
    return rc ? rc : IO_FAILED;
}

bool tls_chose_http2(struct ssl_st *tls)
{
    const unsigned char *name;
    unsigned int size;

    SSL_get0_alpn_selected(tls, &name, &size);
    return size == 2 && memcmp(name, "h2", 2) == 0;
}

void tls_peer_name(struct ssl_st *tls, char *name, size_t size)
{
    X509 *certificate = SSL_get0_peer_certificate(tls);

    name[0] = 0;
    if (!certificate || SSL_get_verify_result(tls) != X509_V_OK)
        return;
    if (X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                                  (int)size) < 0)
        name[0] = 0;
}

ssize_t tls_read(struct ssl_st *tls, void *to, size_t size)
{
    int rc = SSL_read(tls, to, size > INT_MAX ? INT_MAX : (int)size);

    return rc > 0 ? rc : io_result(tls, rc);
}

ssize_t tls_write(struct ssl_st *tls, const void *from, size_t size)
{
    int rc = SSL_write(tls, from, size > INT_MAX ? INT_MAX : (int)size);

    if (rc > 0)
        return rc;
    rc = io_result(tls, rc);
    return rc == IO_WANT_WRITE || rc == IO_AGAIN ? IO_AGAIN : IO_FAILED;
}
