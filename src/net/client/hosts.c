/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.c - see hosts.h. */
#include "net/client/hosts.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/hash.h"
#include "base/memory.h"
#include "net/bounds.h"

enum { HOST_NAME_SIZE = 260 };

struct host {
    unsigned busy_count;
    int64_t next_us;         /* nobody begins before */
    int64_t silent_until_us; /* it has not answered lately */
    int64_t deaf_until_us;   /* nor when it was given much time; 0: it has */
};

struct hosts {
    const struct clock *clock;
    pthread_mutex_t lock;
    struct condition left; /* somebody has */
    struct host list[WEB_HOST_COUNT];
};

/* "shop.example:8080" of the address, in small letters. */
static struct host *find(struct hosts *hosts, const char *url)
{
    const char *begin = strstr(url, "://");
    char name[HOST_NAME_SIZE];
    size_t size = 0;
    const char *at;

    begin = begin ? begin + 3 : url;
    for (at = begin; *at && !strchr("/?#", *at); at++) {
        if (*at == '@')
            size = 0; /* that was a user */
        else if (size < sizeof(name))
            name[size++] = (char)tolower((unsigned char)*at);
    }
    return &hosts->list[hash64(bytes_make(name, size)) % WEB_HOST_COUNT];
}

struct hosts *hosts_new(const struct clock *clock)
{
    struct hosts *hosts = mem_zero(sizeof(*hosts));

    hosts->clock = clock;
    pthread_mutex_init(&hosts->lock, NULL);
    condition_init(&hosts->left, clock);
    return hosts;
}

void hosts_free(struct hosts *hosts)
{
    if (!hosts)
        return;
    condition_release(&hosts->left);
    pthread_mutex_destroy(&hosts->lock);
    free(hosts);
}

static const char silent[] = "the server has not answered lately";

static int refuse(const char *why, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "%s", why);
}

/* With the lock. */
static int wait_for_turn(struct hosts *hosts, struct host *host, struct err *err)
{
    int64_t now_us = clock_mono_us(hosts->clock);
    int64_t until_us = now_us + (int64_t)WEB_HOST_WAIT_MS * MS_US;

    while (host->busy_count >= WEB_HOST_TURN_COUNT || now_us < host->next_us) {
        bool is_full = host->busy_count >= WEB_HOST_TURN_COUNT;

        if (now_us >= until_us || (!is_full && host->next_us > until_us))
            return refuse("too many files of this server are being fetched", err);
        condition_wait_until(&hosts->left, &hosts->lock, is_full ? until_us : host->next_us);
        now_us = clock_mono_us(hosts->clock);
    }
    host->busy_count++;
    host->next_us = now_us + (int64_t)WEB_HOST_GAP_MS * MS_US;
    return 0;
}

int hosts_enter(struct hosts *hosts, const char *url, bool is_patient, struct err *err)
{
    struct host *host = find(hosts, url);
    int rc = 0;

    pthread_mutex_lock(&hosts->lock);
    if (!is_patient && clock_mono_us(hosts->clock) < host->silent_until_us)
        rc = refuse(silent, err);
    if (!rc)
        rc = wait_for_turn(hosts, host, err);
    pthread_mutex_unlock(&hosts->lock);
    return rc;
}

int hosts_probe(struct hosts *hosts, const char *url, int64_t *again_us, struct err *err)
{
    struct host *host = find(hosts, url);
    int64_t left_us;
    int rc = 0;

    *again_us = (int64_t)WEB_HOST_AGAIN_MS * MS_US;
    pthread_mutex_lock(&hosts->lock);
    left_us = host->deaf_until_us - clock_mono_us(hosts->clock);
    if (host->deaf_until_us && left_us > 0) {
        *again_us = left_us;
        rc = refuse(silent, err);
    }
    if (!rc)
        rc = wait_for_turn(hosts, host, err);
    if (!rc && host->deaf_until_us) /* for this long nobody else goes */
        host->deaf_until_us = clock_mono_us(hosts->clock) + (int64_t)WEB_HOST_SILENT_MS * MS_US;
    pthread_mutex_unlock(&hosts->lock);
    return rc;
}

static void leave(struct hosts *hosts, const char *url, bool is_silent, bool is_probe)
{
    int64_t until_us = clock_mono_us(hosts->clock) + (int64_t)WEB_HOST_SILENT_MS * MS_US;
    struct host *host = find(hosts, url);

    pthread_mutex_lock(&hosts->lock);
    assert(host->busy_count);
    host->busy_count--;
    host->silent_until_us = is_silent ? until_us : 0;
    if (is_probe || !is_silent)
        host->deaf_until_us = is_silent ? until_us : 0;
    condition_broadcast(&hosts->left);
    pthread_mutex_unlock(&hosts->lock);
}

void hosts_leave(struct hosts *hosts, const char *url, bool is_silent)
{
    leave(hosts, url, is_silent, false);
}

void hosts_probe_end(struct hosts *hosts, const char *url, bool is_silent)
{
    leave(hosts, url, is_silent, true);
}
