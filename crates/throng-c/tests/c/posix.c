/* The sentences of POSIX.1 about pthread_barrier_init, _wait and _destroy, one test each. The program knows
 * nothing of throng: it passes with the C library's own barriers, too. With the variable PRELOADED set it also
 * checks that the barriers are not the C library's own, and what ours promise beyond POSIX. One file, because it is
 * compiled by itself against each library. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"

static int is_preloaded;

/* Whether a barrier at which no thread has waited yet is of throng: glibc begins it with zeros. */
static int is_throng(const pthread_barrier_t *barrier) {
    unsigned char zeros[8] = {0};
    return memcmp(barrier, zeros, sizeof zeros) != 0;
}

static pthread_barrier_t in_static_memory;
static pthread_barrier_t *barrier = &in_static_memory;
static int count, rounds;
static atomic_int serials;

static void init(int n) {
    CHECK(pthread_barrier_init(barrier, NULL, n) == 0);
    CHECK(is_throng(barrier) == is_preloaded);
    count = n;
    atomic_store(&serials, 0);
}

static void destroy(void) { CHECK(pthread_barrier_destroy(barrier) == 0); }

static int wait_at(pthread_barrier_t *at) {
    int result = pthread_barrier_wait(at);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    return result != 0;
}

/* "[EINVAL] The value specified by count is equal to zero." */
static void a_count_of_zero_is_an_error(void) {
    pthread_barrier_t other;
    CHECK(pthread_barrier_init(&other, NULL, 0) == EINVAL);
}

/* "The count argument specifies the number of threads that must call pthread_barrier_wait() before any of them
 * successfully return from the call." */
static atomic_int arrived;
static void *arrive(void *number) {
    (void)number;
    for (int round = 1; round <= rounds; round++) {
        atomic_fetch_add(&arrived, 1);
        if (wait_at(barrier)) atomic_fetch_add(&serials, 1);
        CHECK(atomic_load(&arrived) >= round * count);
    }
    return NULL;
}
/* "The constant PTHREAD_BARRIER_SERIAL_THREAD is returned to one unspecified thread and zero is returned to each of
 * the remaining threads." "At this point, the barrier shall be reset to the state it had as a result of the most
 * recent pthread_barrier_init()". */
static void all_come_before_one_leaves_and_one_is_serial(void) {
    for (int i = 0; i < crowds(); i++) {
        init(CROWDS[i]);
        rounds = scaled(40000 / (CROWDS[i] * CROWDS[i] / 16 + 8));
        atomic_store(&arrived, 0);
        on_threads(count, arrive);
        CHECK(atomic_load(&serials) == rounds);
        destroy();
    }
}

/* "The pthread_barrier_wait() function shall synchronize participating threads" and is among the functions that
 * "synchronize memory with respect to other threads" (XBD 4.12). The letters are plain memory. */
static long letters[2][MOST_THREADS];
static void *write_letters(void *number) {
    long own = (long)number;
    for (long round = 1; round <= rounds; round++) {
        long *page = letters[round % 2];
        page[own] = round * 1000 + own;
        wait_at(barrier);
        for (int other = 0; other < count; other++) CHECK(page[other] == round * 1000 + other);
    }
    return NULL;
}
static void what_was_written_before_is_seen_after(void) {
    for (int i = 0; i < crowds(); i++) {
        init(CROWDS[i]);
        rounds = scaled(20000 / (CROWDS[i] * CROWDS[i] / 16 + 8));
        memset(letters, 0, sizeof letters);
        on_threads(count, write_letters);
        destroy();
    }
}

/* Nothing says that the threads are the same in each round, or that there are only `count` of them. */
static void *come(void *number) {
    (void)number;
    for (int round = 0; round < rounds; round++)
        if (wait_at(barrier)) atomic_fetch_add(&serials, 1);
    return NULL;
}
/* Threads draw from what is left, so that the last ones are not alone. */
static atomic_int waits_left;
static void *draw_and_come(void *number) {
    (void)number;
    while (atomic_fetch_sub(&waits_left, 1) > 0)
        if (wait_at(barrier)) atomic_fetch_add(&serials, 1);
    return NULL;
}
static void more_threads_than_count(void) {
    int counts[] = {1, 2, 3, 4, 8};
    for (int i = 0; i < 5; i++) {
        init(counts[i]);
        rounds = scaled(1000);
        atomic_store(&waits_left, count * rounds);
        on_threads(4 * count, draw_and_come);
        CHECK(atomic_load(&serials) == rounds);
        destroy();
    }
}
static void threads_that_come_once(void) {
    init(4);
    rounds = 1;
    for (int i = 0; i < scaled(300); i++) on_threads(8, come);
    CHECK(atomic_load(&serials) == 2 * scaled(300));
    destroy();
}

/* "If the attribute attr is NULL, the default barrier attributes shall be used; the effect is the same as passing
 * the address of a default barrier attributes object." The default of process-shared is private. */
static void default_attributes_are_the_same_as_none(void) {
    pthread_barrierattr_t attributes;
    CHECK(pthread_barrierattr_init(&attributes) == 0);
    for (int set = 0; set < 2; set++) {
        if (set) CHECK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_PRIVATE) == 0);
        CHECK(pthread_barrier_init(barrier, &attributes, 3) == 0);
        CHECK(is_throng(barrier) == is_preloaded);
        count = 3, rounds = scaled(200), atomic_store(&serials, 0);
        on_threads(3, come);
        CHECK(atomic_load(&serials) == rounds);
        destroy();
    }
    CHECK(pthread_barrierattr_destroy(&attributes) == 0);
}

/* PTHREAD_PROCESS_SHARED: "permit a barrier to be operated upon by any thread that has access to the memory where the
 * barrier is allocated". */
static void processes_share_a_barrier(void) {
    pthread_barrierattr_t attributes;
    CHECK(pthread_barrierattr_init(&attributes) == 0);
    CHECK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    struct { pthread_barrier_t barrier; atomic_int arrived; } *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(pthread_barrier_init(&shared->barrier, &attributes, 3) == 0);
    CHECK(!is_throng(&shared->barrier));
    int all = scaled(500);
    pid_t children[2];
    for (int i = 0; i < 3; i++) {
        pid_t child = i < 2 ? fork() : 0;
        CHECK(child >= 0);
        if (child > 0) {
            children[i] = child;
            continue;
        }
        for (int round = 1; round <= all; round++) {
            atomic_fetch_add(&shared->arrived, 1);
            wait_at(&shared->barrier);
            CHECK(atomic_load(&shared->arrived) >= 3 * round);
        }
        if (i < 2) _exit(0);
    }
    for (int i = 0; i < 2; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    CHECK(pthread_barrier_destroy(&shared->barrier) == 0);
    CHECK(pthread_barrierattr_destroy(&attributes) == 0);
    CHECK(munmap(shared, sizeof *shared) == 0);
}

/* "The effect of subsequent use of the barrier is undefined until the barrier is reinitialized by another call to
 * pthread_barrier_init()." */
static void a_destroyed_barrier_can_be_made_again(void) {
    for (int n = 1; n <= 9; n++) {
        init(n);
        rounds = 3;
        on_threads(n, come);
        CHECK(atomic_load(&serials) == 3);
        destroy();
    }
}

/* Barriers are in whatever memory the program likes. */
static void *come_to_stack(void *on_stack) {
    for (int round = 0; round < 20; round++) wait_at(on_stack);
    return NULL;
}
static void barriers_on_stacks(void) {
    for (int i = 0; i < scaled(100); i++) {
        pthread_barrier_t on_stack;
        pthread_t other;
        memset(&on_stack, i, sizeof on_stack);
        CHECK(pthread_barrier_init(&on_stack, NULL, 2) == 0);
        CHECK(pthread_create(&other, NULL, come_to_stack, &on_stack) == 0);
        come_to_stack(&on_stack);
        CHECK(pthread_barrier_destroy(&on_stack) == 0);
        memset(&on_stack, 0xA5, sizeof on_stack);
        CHECK(pthread_join(other, NULL) == 0);
    }
}

/* A thread that was told that the round is complete may destroy the barrier and use its memory for something else,
 * while others have not returned yet. Two barriers in turn: all threads come to the second one only when the
 * first is there again. Each barrier has a page of its own, which is unmapped at once: a thread that touches it
 * late gets a signal. */
static pthread_barrier_t *_Atomic pages[2];
static int is_unmapped;
static long page_size;
static pthread_barrier_t *new_page(void) {
    void *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    return page;
}
static void *destroy_in_turn(void *number) {
    (void)number;
    for (int round = 0; round < 2 * rounds; round++) {
        pthread_barrier_t *own = atomic_load(&pages[round % 2]);
        if (!wait_at(own)) continue;
        CHECK(pthread_barrier_destroy(own) == 0);
        if (is_unmapped) {
            CHECK(munmap(own, page_size) == 0);
            own = new_page();
        } else {
            memset(own, 0xA5, sizeof *own);
        }
        CHECK(pthread_barrier_init(own, NULL, count) == 0);
        atomic_store(&pages[round % 2], own);
    }
    return NULL;
}
static void destroy_storm(void) {
    page_size = sysconf(_SC_PAGESIZE);
    for (is_unmapped = 0; is_unmapped < 2; is_unmapped++) {
        for (int i = 0; i < crowds(); i++) {
            count = CROWDS[i];
            rounds = scaled(20000 / (count * count / 16 + 8));
            for (int j = 0; j < 2; j++) {
                atomic_store(&pages[j], new_page());
                CHECK(pthread_barrier_init(atomic_load(&pages[j]), NULL, count) == 0);
            }
            on_threads(count, destroy_in_turn);
            for (int j = 0; j < 2; j++) {
                CHECK(pthread_barrier_destroy(atomic_load(&pages[j])) == 0);
                CHECK(munmap(atomic_load(&pages[j]), page_size) == 0);
            }
        }
    }
}
/* The same with the main thread, which has joined no other thread. */
static void *come_once(void *at) {
    wait_at(at);
    return NULL;
}
static void destroyed_by_a_thread_that_joined_no_other(void) {
    for (int i = 0; i < scaled(500); i++) {
        pthread_barrier_t *page = malloc(sizeof *page);
        pthread_t others[3];
        CHECK(pthread_barrier_init(page, NULL, 4) == 0);
        for (int j = 0; j < 3; j++) CHECK(pthread_create(&others[j], NULL, come_once, page) == 0);
        wait_at(page);
        CHECK(pthread_barrier_destroy(page) == 0);
        free(page);
        for (int j = 0; j < 3; j++) CHECK(pthread_join(others[j], NULL) == 0);
    }
}

/* "If a signal is delivered to a thread blocked on a barrier, upon return from the signal handler the thread shall
 * resume waiting at the barrier if the barrier wait has not completed". No call returns EINTR. */
static atomic_int handled, has_passed;
static void handle(int number) {
    (void)number;
    atomic_fetch_add(&handled, 1);
}
static void *pass(void *number) {
    (void)number;
    wait_at(barrier);
    atomic_store(&has_passed, 1);
    return NULL;
}
static void a_signal_does_not_end_a_wait(void) {
    struct sigaction action = {0};
    action.sa_handler = handle;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    init(2);
    atomic_store(&has_passed, 0);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, pass, NULL) == 0);
    for (int i = 1; i <= 20; i++) {
        CHECK(pthread_kill(other, SIGUSR1) == 0);
        while (atomic_load(&handled) < i) sleep_ms(1);
        sleep_ms(2);
        CHECK(!atomic_load(&has_passed));
    }
    wait_at(barrier);
    CHECK(pthread_join(other, NULL) == 0);
    destroy();
}

/* "A thread that has blocked on a barrier shall not prevent any unblocked thread that is eligible to use the same
 * processing resources from eventually making forward progress". So it must not spin for long. */
static void a_blocked_thread_sleeps(void) {
    init(2);
    pthread_t other;
    clockid_t clock;
    struct timespec used;
    CHECK(pthread_create(&other, NULL, pass, NULL) == 0);
    sleep_ms(300);
    CHECK(pthread_getcpuclockid(other, &clock) == 0 && clock_gettime(clock, &used) == 0);
    CHECK(used.tv_sec == 0 && used.tv_nsec < 100 * 1000000L);
    wait_at(barrier);
    CHECK(pthread_join(other, NULL) == 0);
    destroy();
}

/* None of the three is in the lists of cancellation points (XSH 2.9.5.2). */
static atomic_int has_come;
static void *be_cancelled(void *unused) {
    /* Not on the stack: AddressSanitizer does not see that a cancelled thread leaves its frames. */
    static pthread_barrier_t own;
    (void)unused;
    atomic_fetch_add(&has_come, 1);
    wait_at(barrier);
    /* The request is there by now. */
    CHECK(pthread_barrier_init(&own, NULL, 1) == 0);
    wait_at(&own);
    CHECK(pthread_barrier_destroy(&own) == 0);
    atomic_fetch_add(&has_come, 1);
    pthread_testcancel();
    atomic_fetch_add(&has_come, 1000);
    return NULL;
}
static void a_wait_is_not_a_cancellation_point(void) {
    init(2);
    atomic_store(&has_come, 0);
    pthread_t other;
    void *result;
    CHECK(pthread_create(&other, NULL, be_cancelled, NULL) == 0);
    while (atomic_load(&has_come) == 0) sleep_ms(1);
    sleep_ms(10);
    CHECK(pthread_cancel(other) == 0);
    sleep_ms(50);
    wait_at(barrier);
    CHECK(pthread_join(other, &result) == 0);
    CHECK(result == PTHREAD_CANCELED && atomic_load(&has_come) == 2);
    destroy();
}

/* A thread may come to a barrier while it ends. */
static pthread_key_t key;
static void come_late(void *at) { wait_at(at); }
static void *leave_with_key(void *number) {
    (void)number;
    CHECK(pthread_setspecific(key, barrier) == 0);
    return NULL;
}
static void destructors_of_threads_may_wait(void) {
    init(5);
    CHECK(pthread_key_create(&key, come_late) == 0);
    for (int i = 0; i < scaled(50); i++) on_threads(5, leave_with_key);
    CHECK(pthread_key_delete(key) == 0);
    destroy();
}

/* The functions return their errors; a program may rely on errno all the same. */
static void errno_stays_as_it_was(void) {
    pthread_barrier_t other;
    errno = 77;
    CHECK(pthread_barrier_init(&other, NULL, 0) == EINVAL && errno == 77);
    CHECK(pthread_barrier_init(&other, NULL, 1) == 0 && errno == 77);
    CHECK(pthread_barrier_wait(&other) == PTHREAD_BARRIER_SERIAL_THREAD && errno == 77);
    CHECK(pthread_barrier_destroy(&other) == 0 && errno == 77);
}

/* A forked child has a copy of the memory, and uses its barriers as the parent does. */
static void *come_often(void *at) {
    for (int round = 0; round < 100; round++) wait_at(at);
    return NULL;
}
static void meet_in_pairs(pthread_barrier_t *at) {
    pthread_t other;
    CHECK(pthread_create(&other, NULL, come_often, at) == 0);
    come_often(at);
    CHECK(pthread_join(other, NULL) == 0);
}
static void expect_child_to_end_well(pid_t child) {
    int status;
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
static void a_barrier_from_before_a_fork(void) {
    init(2);
    meet_in_pairs(barrier);
    pid_t child = fork();
    if (child == 0) {
        meet_in_pairs(barrier);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            meet_in_pairs(barrier);
            CHECK(pthread_barrier_destroy(barrier) == 0);
            _exit(0);
        }
        meet_in_pairs(barrier);
        expect_child_to_end_well(grandchild);
        CHECK(pthread_barrier_destroy(barrier) == 0);
        CHECK(pthread_barrier_init(barrier, NULL, 2) == 0);
        CHECK(is_throng(barrier) == is_preloaded);
        meet_in_pairs(barrier);
        CHECK(pthread_barrier_destroy(barrier) == 0);
        _exit(0);
    }
    meet_in_pairs(barrier);
    expect_child_to_end_well(child);
    destroy();
}

/* "[EAGAIN] lacks the necessary resources" and [ENOMEM] are the other errors of init: a count that is large is none. */
static void large_counts(void) {
    pthread_barrier_t large;
    CHECK(pthread_barrier_init(&large, NULL, 65536) == 0);
    CHECK(is_throng(&large) == is_preloaded);
    CHECK(pthread_barrier_destroy(&large) == 0);
    CHECK(pthread_barrier_init(&large, NULL, 65537) == 0);
    CHECK(!is_throng(&large));
    CHECK(pthread_barrier_destroy(&large) == 0);
    CHECK(pthread_barrier_init(&large, NULL, INT_MAX / 2) == 0);
    CHECK(pthread_barrier_destroy(&large) == 0);
}

/* Beyond POSIX, which recommends it: "[EBUSY] .. in use (for example, while being used in a pthread_barrier_wait()
 * call) by another thread", "[EINVAL] .. does not refer to an initialized barrier object". */
static void a_barrier_in_use_is_not_destroyed(void) {
    init(2);
    atomic_store(&has_passed, 0);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, pass, NULL) == 0);
    sleep_ms(200);
    CHECK(pthread_barrier_destroy(barrier) == EBUSY);
    CHECK(!atomic_load(&has_passed));
    wait_at(barrier);
    CHECK(pthread_join(other, NULL) == 0);
    destroy();
}
static void a_destroyed_barrier_is_detected(void) {
    init(2);
    destroy();
    CHECK(pthread_barrier_wait(barrier) == EINVAL);
    CHECK(pthread_barrier_destroy(barrier) == EINVAL);
    init(1);
    CHECK(wait_at(barrier));
    destroy();
}

/* Beyond POSIX: a fork while threads wait. They are not in the child, which begins anew. */
static void a_fork_while_threads_wait(void) {
    init(2);
    atomic_store(&has_passed, 0);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, pass, NULL) == 0);
    sleep_ms(100);
    pid_t child = fork();
    if (child == 0) {
        meet_in_pairs(barrier);
        CHECK(pthread_barrier_destroy(barrier) == 0);
        _exit(0);
    }
    expect_child_to_end_well(child);
    CHECK(!atomic_load(&has_passed));
    wait_at(barrier);
    CHECK(pthread_join(other, NULL) == 0);
    destroy();
}

int main(int argc, char **argv) {
    read_percent(argc, argv);
    is_preloaded = getenv("PRELOADED") != NULL;
    RUN(a_count_of_zero_is_an_error);
    RUN(all_come_before_one_leaves_and_one_is_serial);
    RUN(what_was_written_before_is_seen_after);
    RUN(more_threads_than_count);
    RUN(threads_that_come_once);
    RUN(default_attributes_are_the_same_as_none);
    RUN(processes_share_a_barrier);
    RUN(a_destroyed_barrier_can_be_made_again);
    RUN(barriers_on_stacks);
    RUN(destroy_storm);
    RUN(destroyed_by_a_thread_that_joined_no_other);
    RUN(a_signal_does_not_end_a_wait);
    RUN(a_blocked_thread_sleeps);
    RUN(a_wait_is_not_a_cancellation_point);
    RUN(destructors_of_threads_may_wait);
    RUN(errno_stays_as_it_was);
    RUN(a_barrier_from_before_a_fork);
    RUN(large_counts);
    if (is_preloaded) {
        RUN(a_barrier_in_use_is_not_destroyed);
        RUN(a_destroyed_barrier_is_detected);
        RUN(a_fork_while_threads_wait);
    }
    return 0;
}
