/* Without memory, the functions of throng.h that make something return THRONG_ENOMEM, and preloaded barriers are
 * the C library's own. Each test is a process whose address space is limited to what it has. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/wait.h>
#include <throng.h>

#include "check.h"

#define KIB 1024L

/* How much is left: nothing, and then in steps, so that each allocation is once the one that fails. */
#define STEP (1 * KIB)
#define MOST (256 * KIB)

static long now_used(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Leaves about `left` bytes to malloc, in one piece, and takes all the rest. */
static void take_all_but(long left) {
    void *volatile piece = malloc(left), *volatile taken;
    CHECK(piece);
    struct rlimit limit = {now_used(), now_used()};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (size_t size = 1 << 20; size >= 16; size /= 2) {
        /* Volatile, or the compiler could leave the allocations out. */
        while ((taken = malloc(size))) continue;
    }
    free(piece);
}

/* Runs `test` in processes with more and more memory left. It returns an error code; both outcomes must be seen. */
static void with_little_memory(int (*test)(void)) {
    int refused = 0, made = 0;
    for (long left = 0; left <= MOST; left += STEP) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            take_all_but(left);
            _exit(test());
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == THRONG_OK || WEXITSTATUS(status) == THRONG_ENOMEM);
        refused += WEXITSTATUS(status) == THRONG_ENOMEM;
        made += WEXITSTATUS(status) == THRONG_OK;
    }
    CHECK(refused > 0);
    CHECK(made > 0);
}

static int make_counter(void) {
    throng_counter *counter;
    int error = throng_counter_new(0, &counter);
    return error ? error : throng_counter_destroy(counter);
}
static int make_barrier(void) {
    throng_barrier *barrier;
    int error = throng_barrier_new(64, &barrier);
    return error ? error : throng_barrier_destroy(barrier);
}
static int make_team(void) {
    throng_member *members[64];
    int error = throng_team_new(64, members);
    for (int i = 0; !error && i < 64; i++) error = throng_member_destroy(members[i]);
    return error;
}
static int make_queue(void) {
    throng_queue *queue;
    int error = throng_queue_new(4096, &queue);
    return error ? error : throng_queue_destroy(queue);
}
static int make_unbounded_queue(void) {
    throng_queue *queue;
    int error = throng_queue_new(0, &queue);
    return error ? error : throng_queue_destroy(queue);
}
static int make_pool(void) {
    throng_pool *pool;
    int error = throng_pool_new(&pool);
    return error ? error : throng_pool_destroy(pool);
}

static void counter_or_error(void) { with_little_memory(make_counter); }
static void barrier_or_error(void) { with_little_memory(make_barrier); }
static void team_or_error(void) { with_little_memory(make_team); }
static void queue_or_error(void) { with_little_memory(make_queue); }
static void unbounded_queue_or_error(void) { with_little_memory(make_unbounded_queue); }
static void pool_or_error(void) { with_little_memory(make_pool); }

/* It would take 64 GiB, and there is 1 GiB at most. */
static void huge_queue_is_refused(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        throng_queue *queue;
        struct rlimit limit = {now_used() + (1L << 30), now_used() + (1L << 30)};
        CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
        _exit(throng_queue_new((size_t)1 << 32, &queue));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == THRONG_ENOMEM);
}

/* A preloaded barrier never fails for want of memory. The result tells which library made it. */
static int make_posix_barrier(void) {
    static pthread_barrier_t barrier;
    static const char zeros[8];
    if (pthread_barrier_init(&barrier, NULL, 1) != 0) return -1;
    /* glibc begins a barrier with zeros. */
    int is_own = memcmp(&barrier, zeros, sizeof zeros) == 0;
    if (pthread_barrier_wait(&barrier) != PTHREAD_BARRIER_SERIAL_THREAD) return -1;
    if (pthread_barrier_destroy(&barrier) != 0) return -1;
    return is_own ? THRONG_ENOMEM : THRONG_OK;
}
static void posix_barrier_of_either_library(void) { with_little_memory(make_posix_barrier); }

int main(void) {
    RUN(counter_or_error);
    RUN(barrier_or_error);
    RUN(team_or_error);
    RUN(queue_or_error);
    RUN(unbounded_queue_or_error);
    RUN(pool_or_error);
    RUN(huge_queue_is_refused);
    RUN(posix_barrier_of_either_library);
    return 0;
}
