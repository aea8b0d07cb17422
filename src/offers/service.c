/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h; what the services share. */
#include "offers/service.h"

#include <assert.h>

#include "base/buf.h"
#include "base/hash.h"
#include "codec/message.h"
#include "net/bounds.h"
#include "offers/change/once.h"

int caller_seller(const struct call *call, const char **seller, struct err *err)
{
    const struct identity *identity = call_identity(call);

    *seller = identity->seller;
    if (**seller)
        return 0;
    return err_set(err, ERR_DENIED,
                   "the key '%s' is bound to no seller: make one with torg key create NAME "
                   "--seller SELLER --scope offers.read --scope offers.write",
                   identity->principal);
}

int caller_unbound(const struct call *call, struct err *err)
{
    const struct identity *identity = call_identity(call);

    if (!*identity->seller)
        return 0;
    return err_set(err, ERR_DENIED, "the key '%s' is bound to a seller: take one that is not",
                   identity->principal);
}

int caller_id(struct call *call, const char *field, const char *text, offerid *id, struct err *err)
{
    int rc = offer_id_parse(bytes_of(text), id, err);

    if (rc)
        call_violation(call, field, "%s", err->text);
    return rc;
}

int caller_author(struct call *call, const char *method, const char *seller,
                  const ProtobufCMessage *request, struct violations *violations,
                  struct author *author, struct err *err)
{
    struct buf wire = BUF_INIT(NET_MESSAGE_SIZE_MAX * 2);
    int rc;

    *violations = violations_in(call_arena(call));
    *author = (struct author){.seller = seller,
                              .once_key = call_header(call, "idempotency-key"),
                              .language = language_of(call_header(call, "accept-language")),
                              .arena = call_arena(call),
                              .violations = violations};
    if (!author->once_key.size)
        return 0;
    rc = once_check_key(author->once_key, err);
    if (rc)
        return rc;
    message_encode(request, &wire);
    if (buf_failed(&wire))
        rc = err_set(err, ERR_LIMIT, "the message is larger than %d bytes", NET_MESSAGE_SIZE_MAX);
    else
        author->once_hash = hash64_seeded(buf_bytes(&wire), hash64(bytes_of(method)));
    buf_release(&wire);
    return rc;
}
