/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/offers_load.c - calls OfferService by gRPC: reads by id and durable writes at the same
 * time.
 *
 * One thread, a few connections with many streams each, as a site's own servers would come. Half of
 * the writes publish a new offer, half replace the content of a stored one at the revision that is
 * known for it. An answer counts only if it is right: status OK, an offer's whole size, a receipt
 * with the next revision.
 *
 * With rates, calls are begun when they are due and their time counts from then, however late they
 * got away (a slow server does not slow the questions down). Without, as many are under way as the
 * limits say, four reads for each write. The first second is not counted.
 *
 * usage: bench-offers-load PORT STATE KEYS SECONDS READS WRITES [READ_RATE WRITE_RATE]
 *        READS, WRITES: how many of each are under way at the most
 * TORG_BENCH_ONCE=0: writes without an idempotency key.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/key.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/varint.h"
#include "codec/message.h"
#include "offers/record/offer_id.h"
#include "offers_sample.h"

enum {
    CONNECTION_COUNT = 8,
    STREAM_COUNT_MAX = 200, /* of a connection; the server allows 256 */
    CONTENT_COUNT = 512,    /* made before, taken in turn */
    HEAD_SIZE = 64,
    ANSWER_SIZE = 256, /* of a receipt; of an offer only the size is looked at */
    SELLER_COUNT_MAX = 10000,
    READS_A_WRITE = 4,
    SLACK = 64,
    WARM_US = SECOND_US,
    DRAIN_US = 10 * SECOND_US,
    TICK_US = 500,
    WINDOW_SIZE = 1 << 24,
    READ_SIZE = 256 << 10,
    ONCE_SIZE = 37,
    TOLD_MAX = 5,
};

enum kind { READ, CREATE, UPDATE, KIND_COUNT };

struct call {
    struct call *next; /* of the free ones */
    enum kind kind;
    struct connection *connection;
    int64_t start_us;
    struct sample_record *record;
    struct bytes content; /* borrowed */
    uint8_t head[HEAD_SIZE];
    size_t head_size;
    size_t sent_size;
    size_t answer_size;
    uint8_t answer[ANSWER_SIZE];
    bool ok; /* grpc-status: 0 was seen */
    char once[ONCE_SIZE];
};

struct connection {
    nghttp2_session *session;
    int fd;
    size_t call_count;
    struct buf out;
    size_t out_done;
    bool wants_write;
};

struct flow {
    uint64_t rate; /* a second; 0: as many as can be */
    size_t max;    /* under way */
    size_t under_way;
    uint64_t begun;
    uint64_t counted;
    uint32_t *samples; /* µs; owned */
    size_t sample_count;
};

static struct connection connections[CONNECTION_COUNT];
static struct flow reads;
static struct flow writes;
static struct call *free_calls;
static struct sample_record *records; /* the mapped file */
static bool *busy;                    /* an update is under way */
static size_t record_count;
static char keys[SELLER_COUNT_MAX][KEY_TEXT_LENGTH + 8];
static size_t seller_count;
static struct bytes contents[CONTENT_COUNT];
static bool with_once = true;
static struct rng rng = {1};
static int64_t begin_us; /* counted from here … */
static int64_t end_us;   /* … to here */
static uint64_t failed;
static int epoll_fd;

static void die(const char *what)
{
    fprintf(stderr, "bench-offers-load: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(1);
}

static int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

/* --- what is stored --- */

static void map_state(const char *path)
{
    struct stat stat;
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &stat))
        die(path);
    record_count = (size_t)stat.st_size / sizeof(*records);
    records = mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (records == MAP_FAILED || !record_count)
        die(path);
    close(fd);
    busy = mem_array(record_count, sizeof(*busy));
    memset(busy, 0, record_count * sizeof(*busy));
}

static void read_keys(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[KEY_TEXT_LENGTH + 2];

    if (!file)
        die(path);
    while (seller_count < SELLER_COUNT_MAX && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = 0;
        snprintf(keys[seller_count++], sizeof(keys[0]), "Bearer %s", line);
    }
    fclose(file);
}

/* Encoded as the last field of both requests (field 1 of one, 3 of the other: the tag is apart). */
static void make_contents(void)
{
    struct arena *arena = arena_new();

    for (size_t i = 0; i < CONTENT_COUNT; i++) {
        struct buf wire = BUF_INIT(SAMPLE_SIZE * 2);

        message_encode(&sample_content(&rng, arena)->base, &wire);
        assert(!buf_failed(&wire));
        contents[i].data = buf_take(&wire, &contents[i].size);
    }
    arena_free(arena);
}

/* --- calls --- */

static void put_field(struct buf *out, uint8_t tag, struct bytes bytes)
{
    buf_put_byte(out, tag);
    varint_put(out, bytes.size);
    buf_put(out, bytes);
}

/* Everything before the content: the frame's head too. */
static void make_head(struct call *call)
{
    struct buf head = BUF_INIT(HEAD_SIZE);
    char id[OFFER_ID_TEXT_SIZE];

    buf_put_raw(&head, "\0\0\0\0\0", 5);
    if (call->record) {
        offer_id_format(call->record->id, id);
        put_field(&head, 0x0a, bytes_of(id));
    }
    if (call->kind == UPDATE) {
        buf_put_byte(&head, 0x10);
        varint_put(&head, call->record->revision);
    }
    if (call->content.size) {
        buf_put_byte(&head, call->kind == CREATE ? 0x0a : 0x1a);
        varint_put(&head, call->content.size);
    }
    assert(!buf_failed(&head));
    put_be32(head.data + 1, (uint32_t)(head.size - 5 + call->content.size));
    memcpy(call->head, head.data, head.size);
    call->head_size = head.size;
    buf_release(&head);
}

static ssize_t give_body(nghttp2_session *session, int32_t stream, uint8_t *to, size_t max,
                         uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct call *call = source->ptr;
    size_t total = call->head_size + call->content.size;
    size_t given = 0;

    while (given < max && call->sent_size < total) {
        bool in_head = call->sent_size < call->head_size;
        struct bytes from = in_head ? bytes_make(call->head, call->head_size) : call->content;
        struct bytes rest =
            bytes_skip(from, in_head ? call->sent_size : call->sent_size - call->head_size);
        size_t size = rest.size < max - given ? rest.size : max - given;

        memcpy(to + given, rest.data, size);
        given += size;
        call->sent_size += size;
    }
    if (call->sent_size == total)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)given;
}

static nghttp2_nv header(const char *name, const char *value, uint8_t more)
{
    return (nghttp2_nv){.name = (uint8_t *)name,
                        .value = (uint8_t *)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value),
                        .flags = (uint8_t)(NGHTTP2_NV_FLAG_NO_COPY_NAME | more)};
}

static void submit(struct call *call)
{
    static const char *const paths[KIND_COUNT] = {[READ] = "/torg.v1.OfferService/GetOffer",
                                                  [CREATE] = "/torg.v1.OfferService/CreateOffer",
                                                  [UPDATE] = "/torg.v1.OfferService/UpdateOffer"};
    uint32_t seller = call->record ? call->record->seller : (uint32_t)rng_below(&rng, seller_count);
    nghttp2_nv headers[8] = {header(":method", "POST", 0),
                             header(":scheme", "http", 0),
                             header(":path", paths[call->kind], 0),
                             header(":authority", "127.0.0.1", 0),
                             header("content-type", "application/grpc", 0),
                             header("te", "trailers", 0)};
    nghttp2_data_provider body = {.source.ptr = call, .read_callback = give_body};
    size_t count = 6;

    if (call->kind != READ)
        headers[count++] = header("authorization", keys[seller], NGHTTP2_NV_FLAG_NO_INDEX);
    if (call->kind != READ && with_once) {
        snprintf(call->once, sizeof(call->once), "%016" PRIx64 "-%016" PRIx64, rng_next(&rng),
                 rng_next(&rng));
        headers[count++] = header("idempotency-key", call->once, NGHTTP2_NV_FLAG_NO_INDEX);
    }
    if (nghttp2_submit_request(call->connection->session, NULL, headers, count, &body, call) < 0)
        die("submit");
    call->connection->wants_write = true;
}

static struct connection *choose_connection(void)
{
    static size_t turn;

    for (size_t i = 0; i < CONNECTION_COUNT; i++) {
        struct connection *connection = &connections[turn++ % CONNECTION_COUNT];

        if (connection->call_count < STREAM_COUNT_MAX)
            return connection;
    }
    return NULL;
}

static bool begin_call(struct flow *flow, int64_t start_us)
{
    struct connection *connection = choose_connection();
    struct call *call = free_calls;
    bool create = flow == &writes && flow->begun % 2;

    if (!connection || flow->under_way == flow->max)
        return false;
    if (call)
        free_calls = call->next;
    else
        call = mem_alloc(sizeof(*call));
    call->kind = flow == &reads ? READ : create ? CREATE : UPDATE;
    call->connection = connection;
    call->start_us = start_us;
    call->record = NULL;
    while (!create && (!call->record || (flow == &writes && busy[call->record - records])))
        call->record = &records[rng_below(&rng, record_count)];
    if (call->kind == UPDATE)
        busy[call->record - records] = true;
    call->content = flow == &reads ? BYTES_EMPTY : contents[rng_below(&rng, CONTENT_COUNT)];
    call->sent_size = call->answer_size = 0;
    call->ok = false;
    make_head(call);
    flow->under_way++;
    flow->begun++;
    connection->call_count++;
    submit(call);
    return true;
}

/* The receipt of a write is read whole: its revision is the next one's condition. */
static bool take_receipt(struct call *call)
{
    struct arena *arena = arena_new();
    ProtobufCMessage *message = NULL;
    struct err err;
    bool right;

    if (call->answer_size > 5 && call->answer_size <= ANSWER_SIZE)
        message_decode(bytes_make(call->answer + 5, call->answer_size - 5),
                       &torg__v1__offer_receipt__descriptor, arena, &message, &err);
    right = message && ((Torg__V1__OfferReceipt *)message)->revision ==
                           (call->record ? (int64_t)call->record->revision + 1 : 1);
    if (right && call->record)
        call->record->revision++;
    arena_free(arena);
    return right;
}

static void finish_call(struct call *call)
{
    struct flow *flow = call->kind == READ ? &reads : &writes;
    int64_t now = now_us();
    bool right = call->ok;

    if (right)
        right = call->kind == READ ? call->answer_size > SAMPLE_SIZE * 3 / 4 : take_receipt(call);
    if (!right)
        failed++;
    else if (now >= begin_us && now < end_us) {
        flow->counted++;
        flow->samples[flow->sample_count++] = (uint32_t)(now - call->start_us);
    }
    if (call->kind == UPDATE)
        busy[call->record - records] = false;
    flow->under_way--;
    call->connection->call_count--;
    call->next = free_calls;
    free_calls = call;
}

/* --- answers --- */

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *arg)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    static int told;

    if (!call)
        return 0;
    if (name_size == 11 && memcmp(name, "grpc-status", 11) == 0)
        call->ok = value_size == 1 && value[0] == '0';
    if (name_size == 12 && memcmp(name, "grpc-message", 12) == 0 && value_size && told < TOLD_MAX) {
        fprintf(stderr, "bench-offers-load: %.*s\n", (int)value_size, value);
        told++;
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
                   size_t size, void *arg)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);

    if (call && call->answer_size < ANSWER_SIZE) {
        size_t room = ANSWER_SIZE - call->answer_size;

        memcpy(call->answer + call->answer_size, data, size < room ? size : room);
    }
    if (call)
        call->answer_size += size;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);

    if (call)
        finish_call(call);
    return 0;
}

/* --- sockets --- */

static void open_connection(struct connection *connection, uint16_t port)
{
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20},
                                               {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    nghttp2_session_callbacks *callbacks;
    int one = 1;

    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) ||
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
        fcntl(connection->fd, F_SETFL, O_NONBLOCK) ||
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connection->fd, &event))
        die("connect");
    if (nghttp2_session_callbacks_new(&callbacks))
        die("nghttp2");
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    if (nghttp2_session_client_new(&connection->session, callbacks, connection) ||
        nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 2) ||
        nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0,
                                              WINDOW_SIZE))
        die("nghttp2");
    nghttp2_session_callbacks_del(callbacks);
    buf_init(&connection->out, SIZE_MAX);
    connection->wants_write = true;
}

static void flush(struct connection *connection)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    const uint8_t *data;
    ssize_t size;

    for (;;) {
        size = nghttp2_session_mem_send(connection->session, &data);
        if (size <= 0)
            break;
        buf_put_raw(&connection->out, data, (size_t)size);
    }
    connection->wants_write = false;
    while (connection->out_done < connection->out.size) {
        size = write(connection->fd, connection->out.data + connection->out_done,
                     connection->out.size - connection->out_done);
        if (size < 0 && errno == EAGAIN) {
            event.events |= EPOLLOUT;
            break;
        }
        if (size <= 0)
            die("write");
        connection->out_done += (size_t)size;
    }
    if (connection->out_done == connection->out.size) {
        buf_reset(&connection->out);
        connection->out_done = 0;
    }
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, connection->fd, &event))
        die("epoll");
}

static void receive(struct connection *connection)
{
    static uint8_t data[READ_SIZE];
    ssize_t size = read(connection->fd, data, sizeof(data));

    if (size < 0 && errno == EAGAIN)
        return;
    if (size <= 0)
        die("the server has closed a connection");
    if (nghttp2_session_mem_recv(connection->session, data, (size_t)size) != size)
        die("what the server sends is no HTTP/2");
    connection->wants_write = true; /* acknowledgements, windows */
}

/* --- the round --- */

/* Calls that are due: by the clock, or by the room there is. */
static void begin_due(struct flow *flow, struct flow *other, int64_t start_us, int64_t now)
{
    for (;;) {
        int64_t due_us = now;

        if (flow->rate) {
            due_us = start_us + (int64_t)(flow->begun * SECOND_US / flow->rate);
            if (due_us > now)
                return;
        } else if (flow == &reads ? flow->begun > other->begun * READS_A_WRITE + SLACK
                                  : flow->begun * READS_A_WRITE > other->begun + SLACK) {
            return;
        }
        if (!begin_call(flow, due_us))
            return;
    }
}

static void turn(int timeout_us)
{
    const struct timespec timeout = {.tv_nsec = timeout_us * 1000L};
    struct epoll_event events[CONNECTION_COUNT];
    int count;

    for (size_t i = 0; i < CONNECTION_COUNT; i++) {
        if (connections[i].wants_write)
            flush(&connections[i]);
    }
    count = epoll_pwait2(epoll_fd, events, CONNECTION_COUNT, &timeout, NULL);
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;

        if (events[i].events & EPOLLOUT)
            connection->wants_write = true;
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            receive(connection);
    }
}

static void run(int64_t seconds)
{
    int64_t start_us = now_us();
    int64_t now = start_us;

    begin_us = start_us + WARM_US;
    end_us = begin_us + seconds * SECOND_US;
    while (now < end_us) {
        begin_due(&reads, &writes, start_us, now);
        begin_due(&writes, &reads, start_us, now);
        turn(TICK_US);
        now = now_us();
    }
    while (reads.under_way + writes.under_way) {
        if (now_us() > end_us + DRAIN_US)
            die("calls are not answered");
        turn(TICK_US);
    }
}

/* --- figures --- */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static double quantile_ms(const struct flow *flow, size_t part, size_t whole)
{
    if (!flow->sample_count)
        return 0;
    return flow->samples[flow->sample_count * part / whole] / 1000.0;
}

static void print_flow(const char *name, struct flow *flow, double seconds)
{
    qsort(flow->samples, flow->sample_count, sizeof(flow->samples[0]), compare);
    printf("%s_per_s=%.0f %s_p50_ms=%.2f %s_p99_ms=%.2f %s_p999_ms=%.2f ", name,
           (double)flow->counted / seconds, name, quantile_ms(flow, 50, 100), name,
           quantile_ms(flow, 99, 100), name, quantile_ms(flow, 999, 1000));
}

static double own_cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / SECOND_US;
}

static uint64_t number_of(const char *text)
{
    uint64_t number;

    if (!text_to_u64(bytes_of(text), &number)) {
        fprintf(stderr, "bench-offers-load: %s: a number is expected\n", text);
        exit(2);
    }
    return number;
}

int main(int argc, char **argv)
{
    const char *once = getenv("TORG_BENCH_ONCE");
    uint64_t seconds;
    double cpu_s;

    if (argc != 7 && argc != 9) {
        fprintf(stderr, "usage: bench-offers-load PORT STATE KEYS SECONDS READS WRITES "
                        "[READ_RATE WRITE_RATE]\n");
        return 2;
    }
    with_once = !once || strcmp(once, "0") != 0;
    rng = rng_seeded(random_u64());
    map_state(argv[2]);
    read_keys(argv[3]);
    make_contents();
    seconds = number_of(argv[4]);
    reads.max = number_of(argv[5]);
    writes.max = number_of(argv[6]);
    if (argc == 9) {
        reads.rate = number_of(argv[7]);
        writes.rate = number_of(argv[8]);
    }
    reads.samples = mem_array(seconds * 500000, sizeof(uint32_t));
    writes.samples = mem_array(seconds * 500000, sizeof(uint32_t));
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < CONNECTION_COUNT; i++)
        open_connection(&connections[i], (uint16_t)number_of(argv[1]));
    cpu_s = own_cpu_s();
    run((int64_t)seconds);
    cpu_s = own_cpu_s() - cpu_s;
    print_flow("read", &reads, (double)seconds);
    print_flow("write", &writes, (double)seconds);
    printf("failed=%" PRIu64 " load_cpu_s=%.3f\n", failed, cpu_s);
    return 0;
}
