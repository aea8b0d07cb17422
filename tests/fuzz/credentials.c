/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: what a caller shows as a key, and addresses as settings name them. */
#include <stdlib.h>
#include <string.h>

#include "access/key.h"
#include "config/address.h"

enum { TEXT_SIZE_MAX = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_address(struct bytes input)
{
    char text[TEXT_SIZE_MAX] = "";
    struct address address;

    if (input.size >= sizeof(text))
        return;
    memcpy(text, input.size ? (const char *)input.data : "", input.size);
    if (!address_parse(text, &address))
        return;
    require(address.port <= UINT16_MAX && strlen(address.host) < ADDRESS_HOST_SIZE);
    if (address_is_loopback(&address)) /* what is not exposed needs no key: never too generous */
        require(strcmp(address.host, "localhost") == 0 || strcmp(address.host, "::1") == 0 ||
                strncmp(address.host, "127.", 4) == 0 || strchr(address.host, ':'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_make(data, size);
    char id[KEY_ID_LENGTH + 1];
    uint8_t hash[KEY_HASH_SIZE];

    if (key_parse(input, id, hash))
        require(size == KEY_TEXT_LENGTH && strlen(id) == KEY_ID_LENGTH &&
                memcmp(data + strlen("torg_"), id, KEY_ID_LENGTH) == 0);
    check_address(input);
    return 0;
}
