/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.c - see confine.h: resource limits, then a list of the system calls that are let through
 * (seccomp). What would be a way out kills the process; anything else fails with EACCES, as
 * libraries probe for files and settings and go on without them.
 */
#include "photos/darkroom/confine.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "photos/bounds.h"

static int limit(int what, rlim_t value)
{
    const struct rlimit both = {.rlim_cur = value, .rlim_max = value};

    return setrlimit(what, &both);
}

static const char *set_limits(void)
{
    if (limit(RLIMIT_AS, DARKROOM_MEMORY_SIZE_MAX))
        return "limit of memory";
    if (limit(RLIMIT_CPU, DARKROOM_CPU_S_MAX))
        return "limit of CPU time";
    if (limit(RLIMIT_FSIZE, 0))
        return "limit of files' size";
    if (limit(RLIMIT_CORE, 0))
        return "limit of dumps";
    return NULL;
}

/* Reading, writing, memory, threads of its own, time. */
static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(lseek),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    SCMP_SYS(sysinfo),
    SCMP_SYS(membarrier),
    SCMP_SYS(tgkill),
};

/* Nobody needs them who decodes a picture. */
static const int deadly[] = {
    SCMP_SYS(execve),      SCMP_SYS(execveat), SCMP_SYS(fork),
    SCMP_SYS(vfork),       SCMP_SYS(socket),   SCMP_SYS(socketpair),
    SCMP_SYS(connect),     SCMP_SYS(bind),     SCMP_SYS(ptrace),
    SCMP_SYS(kill),        SCMP_SYS(mount),    SCMP_SYS(unshare),
    SCMP_SYS(init_module), SCMP_SYS(bpf),      SCMP_SYS(process_vm_readv),
};

static int add_plain(scmp_filter_ctx filter)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]) && !rc; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]) && !rc; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, deadly[i], 0);
    return rc;
}

/* Memory that is never executable; threads, no processes (clone3 hides which: glibc then takes
 * clone); names of threads. */
static int add_bounded(scmp_filter_ctx filter)
{
    int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));

    if (!rc)
        rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (!rc)
        rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (!rc)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (!rc)
        rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                              SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    return rc;
}

const char *confine_process(void)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    scmp_filter_ctx filter;
    const char *refused = set_limits();

    if (refused)
        return refused;
    sigaction(SIGXFSZ, &ignored,
              NULL); /* a library that complains to a file is not worth a death */
    filter = seccomp_init(SCMP_ACT_ERRNO(EACCES)); /* sets NO_NEW_PRIVS when it is loaded */
    if (!filter)
        return "list of system calls";
    if (add_plain(filter) || add_bounded(filter))
        refused = "rule of a system call";
    else if (seccomp_load(filter))
        refused = "filter of system calls";
    seccomp_release(filter);
    return refused;
}
