/* SPDX-License-Identifier: Apache-2.0 */
/* load_client.c - see load_client.h. */
#include "load_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"

enum { HEAD_SIZE = 1024 };

_Noreturn void load_die(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
            errno ? strerror(errno) : "failed");
    exit(1);
}

/* --- calls --- */

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        load_die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

void load_client_open(struct load_client *client, uint16_t port, const char *key, size_t size_max)
{
    *client = (struct load_client){
        .fd = connect_to(port), .key = key, .answer_size_max = size_max + HEAD_SIZE};
    buf_init(&client->request, size_max + HEAD_SIZE);
    client->answer = mem_alloc(client->answer_size_max);
}

void load_client_close(struct load_client *client)
{
    close(client->fd);
    buf_release(&client->request);
    free(client->answer);
}

/* The body of the answer; the head must say 200 and a length. */
static struct bytes read_answer(struct load_client *client)
{
    char *answer = (char *)client->answer;
    size_t size = 0, head_size = 0, body_size = 0;

    while (!head_size || size < head_size + body_size) {
        ssize_t got = read(client->fd, answer + size, client->answer_size_max - 1 - size);
        const char *end;

        if (got <= 0)
            load_die("read");
        size += (size_t)got;
        answer[size] = 0;
        end = head_size ? NULL : strstr(answer, "\r\n\r\n");
        if (end) {
            const char *length = strcasestr(answer, "content-length:");

            head_size = (size_t)(end - answer) + 4;
            if (!length || strncmp(answer, "HTTP/1.1 200", 12) != 0)
                load_die(answer);
            body_size = strtoul(length + 15, NULL, 10);
        }
    }
    return bytes_make(client->answer + head_size, body_size);
}

struct bytes load_client_call(struct load_client *client, const char *method, struct bytes message)
{
    struct bytes left;

    buf_reset(&client->request);
    buf_printf(&client->request,
               "POST /torg.v1.%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
               "Content-Type: application/proto\r\nContent-Length: %zu\r\n\r\n",
               method, client->key, message.size);
    buf_put(&client->request, message);
    if (buf_failed(&client->request))
        load_die("a message is too large");
    for (left = buf_bytes(&client->request); left.size;) {
        ssize_t size = write(client->fd, left.data, left.size);

        if (size < 0)
            load_die("write");
        left = bytes_skip(left, (size_t)size);
    }
    return read_answer(client);
}

/* --- figures --- */

static int compare_samples(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

struct load_times load_times_of(uint32_t *samples, size_t count)
{
    struct load_times times = {0};

    if (!count)
        return times;
    qsort(samples, count, sizeof(*samples), compare_samples);
    for (size_t i = 0; i < count; i++)
        times.mean_us += samples[i] / (double)count;
    times.p50_ms = samples[count / 2] / 1000.0;
    times.p99_ms = samples[count - 1 - count / 100] / 1000.0;
    return times;
}

double load_cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
