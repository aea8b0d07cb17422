/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka_security.c - how we and the brokers identify each other: SASL and TLS, as librdkafka's
 * properties.
 *
 * With TLS a broker's certificate must be from a trusted authority and name the host that was
 * connected to (librdkafka's default from 2.0 on; set here, so as not to depend on that).
 */
#include "topic/kafka.h"

#include <string.h>

static bool is_set(const char *text)
{
    return text && *text;
}

/* A value of an operator's may be refused: that is told, and no bug. */
static int set(rd_kafka_conf_t *conf, const char *name, const char *value, struct err *err)
{
    char reason[KAFKA_ERROR_SIZE];

    if (!is_set(value) ||
        rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) == RD_KAFKA_CONF_OK)
        return 0;
    return err_set(err, ERR_INVALID, "Kafka client: %s", reason);
}

static int set_tls(rd_kafka_conf_t *conf, const struct topics_security *security, struct err *err)
{
    int rc = set(conf, "ssl.endpoint.identification.algorithm", "https", err);

    rc = rc ? rc : set(conf, "ssl.ca.location", security->ca, err);
    rc = rc ? rc : set(conf, "ssl.certificate.location", security->certificate, err);
    return rc ? rc : set(conf, "ssl.key.location", security->key, err);
}

static int set_sasl(rd_kafka_conf_t *conf, const struct topics_security *security, struct err *err)
{
    int rc = set(conf, "sasl.mechanism", security->sasl, err);

    rc = rc ? rc : set(conf, "sasl.username", security->user, err);
    return rc ? rc : set(conf, "sasl.password", security->password, err);
}

int kafka_secure(rd_kafka_conf_t *conf, const struct topics_security *security, struct err *err)
{
    bool sasl = is_set(security->sasl);
    int rc;

    if (sasl && !(is_set(security->user) && is_set(security->password)))
        return err_set(err, ERR_INVALID, "Kafka: a sign-in by %s needs a user and a password",
                       security->sasl);
    if (!security->tls && (is_set(security->ca) || is_set(security->certificate)))
        return err_set(err, ERR_INVALID, "Kafka: certificates are named, and TLS is not asked for");
    if (sasl && !security->tls && strcmp(security->sasl, "PLAIN") == 0)
        return err_set(err, ERR_INVALID,
                       "Kafka: PLAIN would send the password in the clear: use "
                       "it with TLS, or SCRAM-SHA-512");
    rc = set(conf, "security.protocol",
             sasl            ? security->tls ? "SASL_SSL" : "SASL_PLAINTEXT"
             : security->tls ? "SSL"
                             : "PLAINTEXT",
             err);
    if (!rc && sasl)
        rc = set_sasl(conf, security, err);
    if (!rc && security->tls)
        rc = set_tls(conf, security, err);
    return rc;
}
