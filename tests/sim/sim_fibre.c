/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_fibre.c - see sim_core.h. A switch is a few instructions, where handing over between threads
 * is microseconds: a simulated minute has tens of thousands.
 *
 * What a thread has of its own is kept by hand: errno, and the program's thread-local variables,
 * which are copied out and in at each switch (their addresses are everybody's). Libraries keep
 * theirs by pthread keys (sim_threads.c).
 */
#include <assert.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "sim_core.h"

#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *size);
#else
static void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size)
{
    (void)fake_stack, (void)bottom, (void)size;
}
static void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *size)
{
    (void)fake_stack, (void)bottom, (void)size;
}
#endif

enum {
    GUARD_SIZE = 4096,
    STACK_SIZE = 8 << 20, /* of all but those that ask for more; only touched pages are memory */
    STACK_COUNT_MAX = 1024,
};
#define SLOT_SIZE ((size_t)STACK_SIZE + GUARD_SIZE)
#define STACKS_ADDRESS ((char *)0x330000000000)

struct sim_fibre {
    void *stack_pointer;
    char *stack; /* with its guard */
    size_t stack_size;
    void (*run)(void *);
    void *arg;
    void *fake_stack; /* the sanitizer's */
    int saved_errno;
    char *locals;
};

static char *locals;             /* the program's thread-local variables ... */
static const void *locals_image; /* ... and what they are in a thread that is new */
static size_t locals_size, locals_image_size;
static struct sim_fibre *running;
static void *outside; /* where the thread's own stack was left */
/* Stacks stay as they are from one life of a process to the next. */
static char *stacks;
static size_t *guarded_count; /* of these; kept over lives */
static size_t used_count;     /* of these in this life, at any time */
static char *free_stacks[STACK_COUNT_MAX];
static size_t free_stack_count;

#if defined(__x86_64__)
/* Saves what a called function must keep, and goes on where the other stack was left. */
void sim_fibre_jump(void **from, void *to);
__asm__(".text\n"
        ".globl sim_fibre_jump\n"
        ".type sim_fibre_jump, @function\n"
        "sim_fibre_jump:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size sim_fibre_jump, .-sim_fibre_jump\n");
enum { SAVED_COUNT = 6, SAVED_FRAME = 5 }; /* words; which of them is the frame pointer */
#elif defined(__aarch64__)
void sim_fibre_jump(void **from, void *to);
__asm__(".text\n"
        ".globl sim_fibre_jump\n"
        ".type sim_fibre_jump, @function\n"
        "sim_fibre_jump:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n"
        ".size sim_fibre_jump, .-sim_fibre_jump\n");
enum { SAVED_COUNT = 20, SAVED_FRAME = 10 };
#else
#error "the switch of stacks is written for x86-64 and aarch64"
#endif

/* The first module is the program itself. */
static int find_locals(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            locals = info->dlpi_tls_data;
            locals_size = info->dlpi_phdr[i].p_memsz;
            locals_image = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
            locals_image_size = info->dlpi_phdr[i].p_filesz;
        }
    return 1;
}

static char *reserve(char *address, size_t size)
{
    char *made = mmap(address, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    assert(made != MAP_FAILED);
    return made;
}

void sim_fibre_open(void)
{
    stacks = reserve(STACKS_ADDRESS, SLOT_SIZE * STACK_COUNT_MAX);
    madvise(stacks, SLOT_SIZE * STACK_COUNT_MAX, MADV_NOHUGEPAGE);
    guarded_count = (size_t *)reserve(NULL, sizeof(*guarded_count));
}

static char *take_stack(size_t size)
{
    char *stack;

    if (size != SLOT_SIZE || (!free_stack_count && used_count == STACK_COUNT_MAX)) {
        stack = reserve(NULL, size);
        mprotect(stack, GUARD_SIZE, PROT_NONE);
        return stack;
    }
    if (free_stack_count)
        return free_stacks[--free_stack_count];
    stack = stacks + used_count++ * SLOT_SIZE;
    if (used_count > *guarded_count) {
        mprotect(stack, GUARD_SIZE, PROT_NONE);
        ++*guarded_count;
    }
    return stack;
}

static void enter(void)
{
    struct sim_fibre *self = running;

    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
    self->run(self->arg);
    abort(); /* a task ends by going on with another */
}

struct sim_fibre *sim_fibre_new(void (*run)(void *), void *arg, size_t stack_size)
{
    struct sim_fibre *fibre = mem_zero(sizeof(*fibre));
    void **top;

    if (!locals)
        dl_iterate_phdr(find_locals, NULL);
    if (stack_size < STACK_SIZE)
        stack_size = STACK_SIZE;
    fibre->stack_size = stack_size + GUARD_SIZE;
    fibre->stack = take_stack(fibre->stack_size);
    fibre->run = run;
    fibre->arg = arg;
    fibre->locals = mem_zero(locals_size + 1);
    if (locals_image_size)
        memcpy(fibre->locals, locals_image, locals_image_size);
    top = (void **)(fibre->stack + fibre->stack_size) - 2 - SAVED_COUNT;
    memset(top, 0, (SAVED_COUNT + 2) * sizeof(*top));
#if defined(__x86_64__)
    top[SAVED_COUNT] = (void *)enter;
#else
    top[SAVED_FRAME + 1] = (void *)enter;
#endif
    fibre->stack_pointer = top;
    return fibre;
}

void sim_fibre_free(struct sim_fibre *fibre)
{
    assert(fibre != running);
    if (fibre->stack >= stacks && fibre->stack < stacks + SLOT_SIZE * STACK_COUNT_MAX)
        free_stacks[free_stack_count++] = fibre->stack;
    else
        munmap(fibre->stack, fibre->stack_size);
    free(fibre->locals);
    free(fibre);
}

void sim_fibre_switch(struct sim_fibre *from, struct sim_fibre *to)
{
    if (from == to)
        return;
    if (from) {
        from->saved_errno = errno;
        if (locals)
            memcpy(from->locals, locals, locals_size);
    }
    if (locals)
        memcpy(locals, to->locals, locals_size);
    running = to;
    __sanitizer_start_switch_fiber(from ? &from->fake_stack : NULL, to->stack, to->stack_size);
    sim_fibre_jump(from ? &from->stack_pointer : &outside, to->stack_pointer);
    __sanitizer_finish_switch_fiber(from ? from->fake_stack : NULL, NULL, NULL);
    errno = from ? from->saved_errno : 0;
}

void sim_fibre_leave(void)
{
    void *nowhere;

    sim_fibre_jump(&nowhere, outside);
    abort();
}

void *sim_fibre_bounds(const struct sim_fibre *fibre, size_t *size)
{
    *size = fibre->stack_size - GUARD_SIZE;
    return fibre->stack + GUARD_SIZE;
}

/* By frame pointers, which the build keeps; between them are what the sanitizer has for gaps. */
__attribute__((no_sanitize_address)) size_t sim_fibre_stack(const struct sim_fibre *fibre,
                                                            void **addresses, size_t room)
{
    char *low = fibre->stack, *high = fibre->stack + fibre->stack_size;
    void **frame = fibre == running ? __builtin_frame_address(0)
                                    : ((void **)fibre->stack_pointer)[SAVED_FRAME];
    size_t count = 0;

    while (count < room && (char *)frame > low && (char *)(frame + 1) < high) {
        void **next = frame[0];

        if (!frame[1])
            break;
        addresses[count++] = frame[1];
        if (next <= frame)
            break;
        frame = next;
    }
    return count;
}
