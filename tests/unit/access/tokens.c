/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of access/jwks, jwt and tokens: which tokens open what, and what is done to forge one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/tokens.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "test_dir.h"

#define START_US (1800000000LL * SECOND_US)
#define START_S "1800000000"

/* Made once: an RSA key takes a tenth of a second. */
static EVP_PKEY *rsa;
static EVP_PKEY *ec;
static EVP_PKEY *ed;
static EVP_PKEY *stranger; /* EC, in no set */
static struct arena *arena;
static struct jwks *set;

static const struct jwt_rules rules = {.issuer = "https://login.example.org",
                                       .audience = "torg",
                                       .seller_claim = "seller",
                                       .skew_us = 30 * SECOND_US};

static const char *base64url(struct bytes bytes)
{
    struct buf out = BUF_INIT(64 << 10);
    char *text;

    text_put_base64(&out, bytes);
    text = arena_text(arena, buf_bytes(&out));
    buf_release(&out);
    for (char *at = text; *at; at++)
        *at = (char)(*at == '+' ? '-' : *at == '/' ? '_' : *at == '=' ? 0 : *at);
    return text;
}

static const char *number_member(EVP_PKEY *key, const char *name, size_t size)
{
    BIGNUM *number = NULL;
    uint8_t bytes[1024];
    int used;

    assert_int_equal(EVP_PKEY_get_bn_param(key, name, &number), 1);
    used = size ? BN_bn2binpad(number, bytes, (int)size) : BN_bn2bin(number, bytes);
    BN_free(number);
    assert_true(used > 0);
    return base64url(bytes_make(bytes, (size_t)used));
}

static const char *rsa_jwk(const char *id, EVP_PKEY *key)
{
    return arena_printf(arena, "{\"kty\":\"RSA\",\"kid\":\"%s\",\"n\":\"%s\",\"e\":\"%s\"}", id,
                        number_member(key, OSSL_PKEY_PARAM_RSA_N, 0),
                        number_member(key, OSSL_PKEY_PARAM_RSA_E, 0));
}

static const char *ec_jwk(const char *id, EVP_PKEY *key)
{
    return arena_printf(arena,
                        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"use\":\"sig\",\"kid\":\"%s\","
                        "\"x\":\"%s\",\"y\":\"%s\"}",
                        id, number_member(key, OSSL_PKEY_PARAM_EC_PUB_X, 32),
                        number_member(key, OSSL_PKEY_PARAM_EC_PUB_Y, 32));
}

static const char *ed_jwk(const char *id, EVP_PKEY *key)
{
    uint8_t raw[32];
    size_t size = sizeof(raw);

    assert_int_equal(EVP_PKEY_get_raw_public_key(key, raw, &size), 1);
    return arena_printf(arena, "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"%s\",\"x\":\"%s\"}",
                        id, base64url(bytes_make(raw, size)));
}

static const char *keys_json(void)
{
    return arena_printf(arena,
                        "{\"keys\":[%s,%s,%s,{\"kty\":\"oct\",\"kid\":\"o\",\"k\":\"AAAA\"},"
                        "{\"kty\":\"EC\",\"crv\":\"P-521\",\"kid\":\"big\"},7,{}]}",
                        rsa_jwk("r", rsa), ec_jwk("e", ec), ed_jwk("d", ed));
}

static const char *sign(EVP_PKEY *key, const char *head, const char *claims)
{
    const char *signed_part =
        arena_printf(arena, "%s.%s", base64url(bytes_of(head)), base64url(bytes_of(claims)));
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t signature[1024];
    size_t size = sizeof(signature);
    const EVP_MD *digest = EVP_PKEY_is_a(key, "ED25519") ? NULL : EVP_sha256();

    assert_int_equal(EVP_DigestSignInit(ctx, NULL, digest, NULL, key), 1);
    assert_int_equal(
        EVP_DigestSign(ctx, signature, &size, (const uint8_t *)signed_part, strlen(signed_part)),
        1);
    EVP_MD_CTX_free(ctx);
    if (EVP_PKEY_is_a(key, "EC")) {
        const uint8_t *der = signature;
        ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)size);
        uint8_t raw[64];

        assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, 32), 32);
        assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + 32, 32), 32);
        ECDSA_SIG_free(pair);
        memcpy(signature, raw, sizeof(raw));
        size = sizeof(raw);
    }
    return arena_printf(arena, "%s.%s", signed_part, base64url(bytes_make(signature, size)));
}

#define CLAIMS                                                                                     \
    "\"iss\":\"https://login.example.org\",\"aud\":\"torg\",\"exp\":1800000600,\"sub\":\"u|1\""
#define SELLER ",\"seller\":\"s-17\",\"scope\":\"openid offers.read offers.write admin\""
#define GOOD "{" CLAIMS SELLER "}"

static int check(const char *text, struct identity *identity, struct err *err)
{
    int64_t ends_us;

    return jwt_check(set, &rules, bytes_of(text), START_US, identity, &ends_us, err);
}

static void expect_refusal(const char *text, int code, const char *reason)
{
    struct identity identity;
    struct err err;

    if (check(text, &identity, &err) != code || !strstr(err.text, reason))
        fail_msg("%s\n  got %d, %s\n  wanted %s", text, err.code, err.text, reason);
    assert_string_equal(identity.principal, "");
    assert_string_equal(identity.seller, "");
    assert_string_equal(identity.scopes, "");
}

static int setup(void **state)
{
    struct err err;

    (void)state;
    log_setup(LOG_FORMAT_JSON, LOG_LEVEL_ERROR, 2);
    arena = arena_new();
    rsa = EVP_RSA_gen(2048);
    ec = EVP_EC_gen("P-256");
    stranger = EVP_EC_gen("P-256");
    ed = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    assert_non_null(ed);
    if (jwks_parse(bytes_of(keys_json()), &set, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    jwks_free(set);
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(ec);
    EVP_PKEY_free(ed);
    EVP_PKEY_free(stranger);
    arena_free(arena);
    return 0;
}

static void a_set_has_the_keys_that_can_be_used(void **state)
{
    EVP_PKEY *small = EVP_RSA_gen(1024);
    struct jwks *other;
    struct err err;

    (void)state;
    assert_int_equal(set->count, 3);
    assert_non_null(jwks_find(set, "r", JWT_RS256));
    assert_non_null(jwks_find(set, "", JWT_RS256)); /* the only one of its kind */
    assert_null(jwks_find(set, "r", JWT_ES256));
    assert_null(jwks_find(set, "o", JWT_RS256));
    assert_int_equal(jwks_parse(bytes_of("{\"keys\":[]}"), &other, &err), ERR_INVALID);
    assert_int_equal(jwks_parse(bytes_of("{}"), &other, &err), ERR_INVALID);
    assert_int_equal(jwks_parse(bytes_of("["), &other, &err), ERR_INVALID);
    assert_int_equal(jwks_parse(BYTES_EMPTY, &other, &err), ERR_INVALID);
    assert_int_equal(
        jwks_parse(bytes_of(arena_printf(arena, "{\"keys\":[%s]}", rsa_jwk("s", small))), &other,
                   &err),
        ERR_INVALID);
    assert_non_null(strstr(err.text, "2048"));
    EVP_PKEY_free(small);
}

static void a_good_token_is_its_sellers(void **state)
{
    const struct {
        EVP_PKEY *key;
        const char *head;
        const char *key_id;
    } cases[] = {
        {rsa, "{\"alg\":\"RS256\",\"kid\":\"r\",\"typ\":\"JWT\"}", "jwt:r"},
        {ec, "{\"alg\":\"ES256\",\"kid\":\"e\",\"typ\":\"at+jwt\"}", "jwt:e"},
        {ed, "{\"alg\":\"EdDSA\",\"kid\":\"d\"}", "jwt:d"},
        {ec, "{\"alg\":\"ES256\"}", "jwt:e"},
    };
    struct identity identity;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        if (check(sign(cases[i].key, cases[i].head, GOOD), &identity, &err))
            fail_msg("%zu: %s", i, err.text);
        assert_string_equal(identity.principal, "u_1");
        assert_string_equal(identity.seller, "s-17");
        assert_string_equal(identity.client, "");
        assert_string_equal(identity.scopes, "offers.read offers.write");
        assert_string_equal(identity.key, cases[i].key_id);
    }
    /* Scopes as a list, an audience among others, no sub. */
    assert_int_equal(
        check(sign(ec, "{\"alg\":\"ES256\"}",
                   "{\"iss\":\"https://login.example.org\",\"aud\":[\"x\",\"torg\"],"
                   "\"exp\":1800000600.5,\"seller\":\"s-1\",\"scope\":[\"offers.read\",7,\"*\"]}"),
              &identity, &err),
        0);
    assert_string_equal(identity.principal, "s-1");
    assert_string_equal(identity.scopes, "offers.read");
}

static void claims_have_to_fit(void **state)
{
    static const struct {
        const char *claims;
        const char *reason;
    } cases[] = {
        {"{\"aud\":\"torg\",\"exp\":1800000600" SELLER "}", "(iss)"},
        {"{\"iss\":\"https://evil.example.org\",\"aud\":\"torg\",\"exp\":1800000600" SELLER "}",
         "(iss)"},
        {"{\"iss\":\"https://login.example.org\",\"exp\":1800000600" SELLER "}", "(aud)"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":\"torg2\",\"exp\":1800000600" SELLER "}",
         "(aud)"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":[\"a\"],\"exp\":1800000600" SELLER "}",
         "(aud)"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":{\"torg\":1},\"exp\":1800000600" SELLER
         "}",
         "(aud)"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":\"torg\"" SELLER "}", "(exp)"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":\"torg\",\"exp\":\"1800000600\"" SELLER
         "}",
         "(exp)"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":\"torg\",\"exp\":1799999970" SELLER "}",
         "expired"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":\"torg\",\"exp\":1e300" SELLER "}",
         "(exp)"},
        {"{\"iss\":\"https://login.example.org\",\"aud\":\"torg\",\"exp\":-1" SELLER "}", "(exp)"},
        {"{" CLAIMS ",\"nbf\":1800000031" SELLER "}", "(nbf)"},
        {"{" CLAIMS ",\"nbf\":\"x\"" SELLER "}", "(nbf)"},
        {"{" CLAIMS ",\"iat\":1800000031" SELLER "}", "(iat)"},
        {"{" CLAIMS "}", "names no seller"},
        {"{" CLAIMS ",\"seller\":\"\"}", "names no seller"},
        {"{" CLAIMS ",\"seller\":\"a/b\"}", "names no seller"},
        {"{" CLAIMS ",\"seller\":\"a#b\"}", "names no seller"},
        {"{" CLAIMS ",\"seller\":17}", "names no seller"},
        {"{" CLAIMS ",\"seller\":\"a\",\"seller\":\"b\"}", "claims cannot be read"},
        {"[1]", "claims cannot be read"},
        {"", "form"},
        {"{", "claims cannot be read"},
    };
    struct identity identity;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        expect_refusal(sign(ed, "{\"alg\":\"EdDSA\",\"kid\":\"d\"}", cases[i].claims),
                       ERR_UNAUTHENTICATED, cases[i].reason);
    /* The clock may be off by 30 s. */
    assert_int_equal(check(sign(ed, "{\"alg\":\"EdDSA\"}",
                                "{\"iss\":\"https://login.example.org\",\"aud\":\"torg\","
                                "\"exp\":1799999971,\"nbf\":1800000030" SELLER "}"),
                           &identity, &err),
                     0);
    /* A service's own may live beyond 2038. */
    assert_int_equal(check(sign(ed, "{\"alg\":\"EdDSA\"}",
                                "{\"iss\":\"https://login.example.org\",\"aud\":\"torg\","
                                "\"exp\":4102444800" SELLER "}"),
                           &identity, &err),
                     0);
}

/* Signs by HMAC with what everybody can read: the old trick with servers that trust `alg`. */
static const char *sign_by_secret(const char *head, const char *secret)
{
    const char *signed_part =
        arena_printf(arena, "%s.%s", base64url(bytes_of(head)), base64url(bytes_of(GOOD)));
    uint8_t mac[64];
    unsigned size = 0;

    HMAC(EVP_sha256(), secret, (int)strlen(secret), (const uint8_t *)signed_part,
         strlen(signed_part), mac, &size);
    return arena_printf(arena, "%s.%s", signed_part, base64url(bytes_make(mac, size)));
}

static void forged_tokens_are_refused(void **state)
{
    const char *good = sign(ec, "{\"alg\":\"ES256\",\"kid\":\"e\"}", GOOD);
    const char *claims = base64url(bytes_of(GOOD));
    static const char *const nones[] = {"none", "None", "NONE", "nOnE", ""};
    size_t size = strlen(good);
    const char *zero;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(nones); i++) {
        const char *head =
            base64url(bytes_of(arena_printf(arena, "{\"alg\":\"%s\",\"kid\":\"e\"}", nones[i])));

        expect_refusal(arena_printf(arena, "%s.%s.", head, claims), ERR_UNAUTHENTICATED, "form");
        expect_refusal(arena_printf(arena, "%s.%s.AA", head, claims), ERR_UNAUTHENTICATED,
                       "not signed by");
    }
    expect_refusal(sign_by_secret("{\"alg\":\"HS256\",\"kid\":\"e\"}", ec_jwk("e", ec)),
                   ERR_UNAUTHENTICATED, "not signed by");
    expect_refusal(sign_by_secret("{\"alg\":\"HS256\",\"kid\":\"o\"}", ""), ERR_UNAUTHENTICATED,
                   "not signed by");
    expect_refusal(sign_by_secret("{\"alg\":\"RS256\",\"kid\":\"r\"}", "x"), ERR_UNAUTHENTICATED,
                   "signature");
    /* Another key, a key of another kind, one that is not there, extensions, a doubled name. */
    expect_refusal(sign(stranger, "{\"alg\":\"ES256\",\"kid\":\"e\"}", GOOD), ERR_UNAUTHENTICATED,
                   "signature");
    expect_refusal(sign(ec, "{\"alg\":\"ES256\",\"kid\":\"r\"}", GOOD), ERR_NOT_FOUND, "not known");
    expect_refusal(sign(stranger, "{\"alg\":\"ES256\",\"kid\":\"new\"}", GOOD), ERR_NOT_FOUND,
                   "not known");
    expect_refusal(
        sign(ec, "{\"alg\":\"ES256\",\"kid\":\"e\",\"crit\":[\"b64\"],\"b64\":false}", GOOD),
        ERR_UNAUTHENTICATED, "extensions");
    expect_refusal(sign(ec, "{\"alg\":\"ES256\",\"alg\":\"none\",\"kid\":\"e\"}", GOOD),
                   ERR_UNAUTHENTICATED, "form");
    /* A key that the token brings itself, or an address of one. */
    expect_refusal(sign(stranger,
                        arena_printf(arena,
                                     "{\"alg\":\"ES256\",\"kid\":\"e\",\"jwk\":%s,"
                                     "\"jku\":\"https://stranger.example/keys\","
                                     "\"x5u\":\"https://stranger.example/cert\"}",
                                     ec_jwk("e", stranger)),
                        GOOD),
                   ERR_UNAUTHENTICATED, "signature");
    expect_refusal(sign(ec, "{\"alg\":\"ES256\",\"kid\":\"e\",\"typ\":\"JWE\"}", GOOD),
                   ERR_UNAUTHENTICATED, "type");
    /* "psychic" signatures: r = s = 0. */
    zero = arena_printf(arena, "%s.%s.%s", base64url(bytes_of("{\"alg\":\"ES256\",\"kid\":\"e\"}")),
                        claims, base64url(bytes_make((const uint8_t[64]){0}, 64)));
    expect_refusal(zero, ERR_UNAUTHENTICATED, "signature");
    /* Every sign of a good one matters, but for those that are base64's spare bits. */
    for (size_t i = 0; i < size; i++) {
        char *changed = arena_strdup(arena, good);
        struct identity identity;
        struct err err;

        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        if (!check(changed, &identity, &err))
            fail_msg("sign %zu can be changed", i);
    }
}

static void broken_forms_are_refused(void **state)
{
    const char *good = sign(ed, "{\"alg\":\"EdDSA\",\"kid\":\"d\"}", GOOD);
    char *huge = arena_alloc(arena, 3 * JWT_SIZE_MAX + 1);
    static const char *const forms[] = {"",
                                        ".",
                                        "..",
                                        "...",
                                        "a.b",
                                        "a.b.c.d",
                                        "a..",
                                        ".b.",
                                        "..c",
                                        "a.b.",
                                        "e30.e30.",
                                        "e30.e30.AA",
                                        "====.====.==",
                                        "+/+/.AAAA.AAAA",
                                        "\xff.\xff.\xff"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++) {
        struct identity identity;
        struct err err;

        assert_int_equal(check(forms[i], &identity, &err), ERR_UNAUTHENTICATED);
    }
    expect_refusal(arena_printf(arena, "%s=", good), ERR_UNAUTHENTICATED, "form");
    expect_refusal(arena_printf(arena, " %s", good), ERR_UNAUTHENTICATED, "form");
    expect_refusal(arena_printf(arena, "%s.x", good), ERR_UNAUTHENTICATED, "form");
    memset(huge, 'A', 3 * JWT_SIZE_MAX);
    huge[3 * JWT_SIZE_MAX] = 0;
    huge[10] = huge[20] = '.';
    expect_refusal(huge, ERR_UNAUTHENTICATED, "form");
    assert_false(jwt_is_one(bytes_of("torg_aaaaaaaaaa_b")));
    assert_true(jwt_is_one(bytes_of(good)));
    /* Deep JSON within the size. */
    memset(huge, '[', 5000);
    huge[5000] = 0;
    expect_refusal(sign(ed, "{\"alg\":\"EdDSA\",\"kid\":\"d\"}", huge), ERR_UNAUTHENTICATED,
                   "claims cannot be read");
}

/* --- with keys that change --- */

static void keys_of_a_file_are_followed(void **state)
{
    char dir[TEST_DIR_SIZE];
    const char *path = test_dir_make(dir) ? arena_printf(arena, "%s/jwks.json", dir) : "";
    struct clock_manual clock;
    struct tokens_options options = {
        .keys = path, .rules = rules, .clock = &clock.base, .manual = true};
    const char *old = sign(ec, "{\"alg\":\"ES256\",\"kid\":\"e\"}", GOOD);
    const char *fresh = sign(stranger, "{\"alg\":\"ES256\",\"kid\":\"e2\"}", GOOD);
    struct identity identity;
    struct tokens *tokens;
    struct err err;

    (void)state;
    clock_manual_init(&clock, START_US);
    assert_int_equal(tokens_open(&options, &tokens, &err), ERR_NOT_FOUND);
    assert_int_equal(file_write(path, bytes_of("{}"), &err), 0);
    assert_int_equal(tokens_open(&options, &tokens, &err), ERR_INVALID);
    assert_int_equal(file_write(path, bytes_of(keys_json()), &err), 0);
    assert_int_equal(tokens_open(&options, &tokens, &err), 0);
    for (int i = 0; i < 3; i++) { /* the later ones from the cache */
        assert_int_equal(tokens_check(tokens, bytes_of(old), &identity, &err), 0);
        assert_string_equal(identity.seller, "s-17");
        assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err),
                         ERR_UNAUTHENTICATED);
    }
    /* A new key beside, then alone: what the old one signed is worth nothing, remembered or not. */
    assert_int_equal(file_write(path,
                                bytes_of(arena_printf(arena, "{\"keys\":[%s,%s]}", ec_jwk("e", ec),
                                                      ec_jwk("e2", stranger))),
                                &err),
                     0);
    assert_int_equal(tokens_refresh(tokens, &err), 0);
    assert_int_equal(tokens_check(tokens, bytes_of(old), &identity, &err), 0);
    assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err), 0);
    assert_int_equal(
        file_write(path, bytes_of(arena_printf(arena, "{\"keys\":[%s]}", ec_jwk("e2", stranger))),
                   &err),
        0);
    assert_int_equal(tokens_refresh(tokens, &err), 0);
    assert_int_equal(tokens_check(tokens, bytes_of(old), &identity, &err), ERR_UNAUTHENTICATED);
    assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err), 0);
    /* A damaged file changes nothing. */
    assert_int_equal(file_write(path, bytes_of("{\"keys\":"), &err), 0);
    assert_int_equal(tokens_refresh(tokens, &err), ERR_INVALID);
    assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err), 0);
    /* Remembered, and still it ends. */
    clock_manual_advance(&clock, 630 * SECOND_US);
    assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err), ERR_UNAUTHENTICATED);
    assert_non_null(strstr(err.text, "expired"));
    tokens_close(tokens);
    assert_int_equal(dir_remove(dir, &err), 0);
}

struct issuer {
    const char *json; /* NULL: it does not answer */
    int asked;
};

static int fetch(void *arg, const char *url, struct buf *out, struct err *err)
{
    struct issuer *issuer = arg;

    assert_string_equal(url, "https://login.example.org/jwks");
    issuer->asked++;
    if (!issuer->json)
        return err_set(err, ERR_UNAVAILABLE, "no answer");
    buf_put_text(out, issuer->json);
    return 0;
}

static void keys_of_an_address_are_followed(void **state)
{
    struct issuer issuer = {.json = NULL};
    struct clock_manual clock;
    struct tokens_options options = {.keys = "https://login.example.org/jwks",
                                     .rules = rules,
                                     .clock = &clock.base,
                                     .fetch = fetch,
                                     .fetch_arg = &issuer,
                                     .manual = true};
    const char *token = sign(ec, "{\"alg\":\"ES256\",\"kid\":\"e\"}",
                             "{\"iss\":\"https://login.example.org\",\"aud\":\"torg\","
                             "\"exp\":2000000000" SELLER "}");
    const char *fresh = sign(stranger, "{\"alg\":\"ES256\",\"kid\":\"e2\"}",
                             "{\"iss\":\"https://login.example.org\",\"aud\":\"torg\","
                             "\"exp\":2000000000" SELLER "}");
    struct identity identity;
    struct tokens *tokens;
    struct err err;

    (void)state;
    clock_manual_init(&clock, START_US);
    assert_int_equal(tokens_open(&options, &tokens, &err), 0); /* it may come later */
    assert_int_equal(tokens_check(tokens, bytes_of(token), &identity, &err), ERR_UNAVAILABLE);
    issuer.json = keys_json();
    assert_int_equal(tokens_refresh(tokens, &err), 0); /* not due yet */
    assert_int_equal(issuer.asked, 1);
    clock_manual_advance(&clock, (int64_t)JWKS_HURRY_MS * MS_US);
    assert_int_equal(tokens_refresh(tokens, &err), 0);
    assert_int_equal(tokens_check(tokens, bytes_of(token), &identity, &err), 0);
    /* Known keys: asked every few minutes. An unknown one: soon, and not more often for that. */
    clock_manual_advance(&clock, (int64_t)JWKS_HURRY_MS * MS_US);
    assert_int_equal(tokens_refresh(tokens, &err), 0);
    assert_int_equal(issuer.asked, 2);
    for (int i = 0; i < 100; i++)
        assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err),
                         ERR_UNAUTHENTICATED);
    issuer.json =
        arena_printf(arena, "{\"keys\":[%s,%s]}", ec_jwk("e", ec), ec_jwk("e2", stranger));
    assert_int_equal(tokens_refresh(tokens, &err), 0);
    assert_int_equal(issuer.asked, 3);
    assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err), 0);
    /* Silent for a day: then nothing is trusted. */
    issuer.json = NULL;
    clock_manual_advance(&clock, (int64_t)JWKS_STALE_MS_MAX * MS_US);
    assert_int_equal(tokens_refresh(tokens, &err), ERR_UNAVAILABLE);
    assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err), 0);
    clock_manual_advance(&clock, 1);
    assert_int_equal(tokens_check(tokens, bytes_of(fresh), &identity, &err), ERR_UNAVAILABLE);
    tokens_close(tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_the_keys_that_can_be_used),
        cmocka_unit_test(a_good_token_is_its_sellers),
        cmocka_unit_test(claims_have_to_fit),
        cmocka_unit_test(forged_tokens_are_refused),
        cmocka_unit_test(broken_forms_are_refused),
        cmocka_unit_test(keys_of_a_file_are_followed),
        cmocka_unit_test(keys_of_an_address_are_followed),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
