/* What the tests share. A test program prints a line `test NAME ... ok` for each test and exits with 1 at the
 * first failure. Its first argument is a percentage: how many of the usual rounds it runs. */
#ifndef CHECK_H
#define CHECK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition); \
            _exit(1);                                                                          \
        }                                                                                      \
    } while (0)

#define RUN(test)                        \
    do {                                 \
        test();                          \
        printf("test %s ... ok\n", #test); \
        fflush(stdout);                  \
    } while (0)

static int percent = 100;

/* Returns this percentage of `rounds`, at least 2. */
static inline int scaled(int rounds) {
    long part = (long)rounds * percent / 100;
    return part < 2 ? 2 : (int)part;
}

static inline void read_percent(int argc, char **argv) {
    if (argc > 1) percent = atoi(argv[1]);
    CHECK(percent > 0);
}

static inline void sleep_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0) {
    }
}

#define MOST_THREADS 64

static void *(*function_of_all)(void *);
static atomic_int still_running;

static inline void *run_one(void *number) {
    function_of_all(number);
    atomic_fetch_sub(&still_running, 1);
#ifdef THREADS_END_TOGETHER
    /* The library gives the number of a thread that has ended to a new one, under a lock that is not instrumented.
     * ThreadSanitizer would take the one thread's memory, which the other goes on with, for a race. */
    while (atomic_load(&still_running) > 0) sleep_ms(1);
#endif
    return NULL;
}

/* Runs `function` on `count` threads with the numbers 0, 1, ..., as pointers, and waits for all. */
static inline void on_threads(int count, void *(*function)(void *)) {
    pthread_t threads[2 * MOST_THREADS];
    CHECK(count <= 2 * MOST_THREADS);
    function_of_all = function;
    atomic_store(&still_running, count);
    for (long i = 0; i < count; i++) CHECK(pthread_create(&threads[i], NULL, run_one, (void *)i) == 0);
    for (int i = 0; i < count; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Numbers of threads that meet: below and above the cores of most machines. */
static const int CROWDS[] = {1, 2, 3, 4, 5, 8, 16, 33, 64};

/* How many of them: without the last two under valgrind, which takes most of its time to start threads. */
static inline int crowds(void) {
    int all = sizeof CROWDS / sizeof CROWDS[0];
    return percent < 3 ? all - 2 : all;
}

#endif
