/* Shared by these programs: the same workload as `throng bench barriers`.
 *
 * Threads wait at the barrier, round after round, without work in between. Rounds come in blocks; the first thread
 * reads the clock around each block. Blocks grow while warming up, until one takes a millisecond. */
#ifndef ROUNDS_H
#define ROUNDS_H

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One round in this many is checked while measuring; in the warm-up all are. */
enum { SAMPLED = 64, LINE = 128, MOST_THREADS = 1024, MOST_REPETITIONS = 1000 };

struct plan {
    const char *name;
    int threads;
    int repetitions;
    double milliseconds;
    /* Of `laps.h`; 0 in repetitions. */
    int kind;
    double warm_up_ms;
};

/* The round of one thread, alone on its line. */
struct own {
    _Alignas(LINE) atomic_ulong round;
};

static struct own *board;
static atomic_int somebody_was_early;
/* Nanoseconds a round, by repetition. */
static double results[MOST_REPETITIONS];

/* The barrier under test: each program has its own. */
static inline void meet(void);

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "error: %s\n", what);
    exit(2);
}

static double number(const char *what, const char *typed, double least, double most) {
    char *end;
    errno = 0;
    double value = strtod(typed, &end);
    if (errno != 0 || *end != 0 || end == typed || !(value >= least && value <= most)) {
        fprintf(stderr, "error: %s %s: must be from %g to %g\n", what, typed, least, most);
        exit(2);
    }
    return value;
}

/* Keeps the calling thread on the rank-th core that this process may use, if there is a core for
 * each thread. Call `remember_cores` first, from the main thread. */
static cpu_set_t allowed;

static void remember_cores(void) {
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
}

static void pin(int rank, int threads) {
    if (threads > CPU_COUNT(&allowed))
        return;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &allowed) && rank-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

/* A thread's part in the check: it writes its round before it waits, and reads another's after. */
struct witness {
    int rank, threads;
    unsigned long round, mask, looks;
};

static inline void comes(struct witness *self) {
    self->round++;
    atomic_store_explicit(&board[self->rank].round, self->round, memory_order_relaxed);
}

static inline void leaves(struct witness *self) {
    if ((self->round & self->mask) != 0 || self->threads < 2)
        return;
    self->looks++;
    int other = (self->rank + 1 + (int)(self->looks % (self->threads - 1))) % self->threads;
    if (atomic_load_explicit(&board[other].round, memory_order_relaxed) < self->round)
        atomic_store(&somebody_was_early, 1);
}

#include "laps.h"

/* Set by the first thread for all: the length of the next block, 0 at the end. Written
 * between two meetings and read after the second. */
static atomic_ulong next_block;
static atomic_ulong next_mask;

/* State of the first thread in a repetition. */
struct course {
    double least_ns, warmed_ns, time_ns, rounds;
};

/* After a block, sets the length of the next. Called by the first thread. */
static void decide(struct course *course, unsigned long block, unsigned long mask, double took_ns) {
    if (mask != 0) {
        course->time_ns += took_ns;
        course->rounds += block;
        if (course->time_ns >= course->least_ns)
            atomic_store(&next_block, 0);
        return;
    }
    course->warmed_ns += took_ns;
    if (took_ns < 1e6)
        atomic_store(&next_block, 2 * block);
    if (course->warmed_ns >= course->least_ns / 4)
        atomic_store(&next_mask, SAMPLED - 1);
}

/* One repetition, as each thread goes through it. The barrier under test also orders the blocks.
 * Returns the nanoseconds of a round, on the first thread. */
static double repetition(struct plan plan, struct witness *self) {
    struct course course = {.least_ns = plan.milliseconds * 1e6};
    if (self->rank == 0) {
        atomic_store(&next_block, 1);
        atomic_store(&next_mask, 0);
    }
    for (;;) {
        meet();
        unsigned long block = atomic_load(&next_block);
        self->mask = atomic_load(&next_mask);
        meet();
        if (block == 0)
            return course.time_ns / course.rounds;
        double start_ns = now_ns();
        for (unsigned long round = 0; round < block; round++) {
            comes(self);
            meet();
            leaves(self);
        }
        if (self->rank == 0)
            decide(&course, block, self->mask, now_ns() - start_ns);
    }
}

/* NAME THREADS REPETITIONS MILLISECONDS */
static struct plan plan_of_repetitions(char **typed) {
    return (struct plan){
        .kind = REPETITIONS,
        .name = typed[1],
        .threads = (int)number("THREADS", typed[2], 1, MOST_THREADS),
        .repetitions = (int)number("REPETITIONS", typed[3], 1, MOST_REPETITIONS),
        .milliseconds = number("MILLISECONDS", typed[4], 0.1, 60000),
    };
}

/* Either those arguments, or those of `laps.h`. */
static struct plan plan_of(int count, char **typed) {
    if (count != 5 && count != 8)
        fail("usage: PROGRAM NAME THREADS REPETITIONS MILLISECONDS, or as laps.h says");
    struct plan plan = count == 8 ? plan_of_laps(typed) : plan_of_repetitions(typed);
    board = aligned_alloc(LINE, sizeof(struct own) * plan.threads);
    if (board == NULL)
        fail("no memory");
    for (int rank = 0; rank < plan.threads; rank++)
        atomic_init(&board[rank].round, 0);
    return plan;
}

/* The program of each thread. */
static void all_repetitions(struct plan plan, int rank) {
    if (plan.kind != REPETITIONS) {
        all_laps(plan, rank);
        return;
    }
    pin(rank, plan.threads);
    struct witness self = {.rank = rank, .threads = plan.threads};
    for (int i = 0; i < plan.repetitions; i++) {
        double ns_a_round = repetition(plan, &self);
        if (rank == 0)
            results[i] = ns_a_round;
    }
}

/* Prints the results. Returns the exit code. */
static int report(struct plan plan) {
    if (atomic_load(&somebody_was_early)) {
        fprintf(stderr, "error: %s did not hold on %d threads\n", plan.name, plan.threads);
        return 1;
    }
    if (plan.kind == MEASURE) {
        print_laps();
        return 0;
    }
    printf("{\"name\": \"%s\", \"threads\": %d, \"ns_a_round\": [", plan.name, plan.threads);
    for (int repetition = 0; repetition < plan.repetitions; repetition++)
        printf("%s%.1f", repetition > 0 ? ", " : "", results[repetition]);
    printf("]}\n");
    return 0;
}

#endif
