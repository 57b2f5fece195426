/* Rounds as `throng bench barriers --neighbours --peers DIR` measures them.
 *
 * Arguments: NAME THREADS KIND WARM_UP_MS MEASURE_MS WORK_NS SECONDS. Nothing is pinned, and the first
 * thread times every round. KIND `measure` prints the line `measuring` after WARM_UP_MS, the line `measured`
 * at least MEASURE_MS later, and the numbers as JSON. KIND `accompany` runs until standard input ends, and
 * writes the number of rounds done to the first 8 bytes of standard output, which is a file. Either ends
 * when the thread that started it ends, and after SECONDS.
 *
 * Before the last round the first thread writes the number of that round, and all others read it after each
 * round: the barrier under test orders that. `bench/beside/laps.rs` and `rounds.rs` are the same in Rust. */
#ifndef LAPS_H
#define LAPS_H

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

enum kind { REPETITIONS, MEASURE, ACCOMPANY };

/* Elapsed time and processor time, in nanoseconds. */
struct clocks {
    double wall, cpu;
};

/* A histogram with 64 steps for each doubling: to 2 %. */
enum { STEP_BITS = 6, STEPS = 1 << STEP_BITS, SLOTS = (64 - STEP_BITS) * STEPS };

/* State of the first thread. */
struct laps {
    double started, last, sum;
    struct clocks began, took;
    int is_measuring;
    uint64_t count, longest, written_at_us;
    uint64_t slots[SLOTS];
};

static struct laps laps;
/* Work before each round, in steps. */
static unsigned long work_steps;
/* The number of the last round. */
static struct {
    _Alignas(LINE) atomic_ulong round;
} last_round;

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static struct clocks clocks_now(void) {
    return (struct clocks){.cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), .wall = now_ns()};
}

/* Each step needs the one before, and no memory. */
static void work_for(unsigned long steps) {
    uint64_t number = steps;
    for (unsigned long i = 0; i < steps; i++) {
        number = number * 0xD1B54A32D192ED03u >> 1;
        __asm__ volatile("" : "+r"(number));
    }
}

static unsigned long steps_of(double nanoseconds) {
    enum { STEPS_A_TRY = 20000 };
    double fastest = 1e9;
    for (int i = 0; i < 5; i++) {
        double start = now_ns();
        work_for(STEPS_A_TRY);
        double took = now_ns() - start;
        if (took < fastest)
            fastest = took;
    }
    return (unsigned long)(nanoseconds * STEPS_A_TRY / fastest);
}

/* Returns the slot of a time. */
static int slot_of(uint64_t ns) {
    if (ns < STEPS)
        return (int)ns;
    int doublings = 63 - __builtin_clzll(ns) - STEP_BITS;
    return doublings * STEPS + (int)(ns >> doublings);
}

/* Returns the longest time of a slot. */
static uint64_t end_of(int slot) {
    if (slot < 2 * STEPS)
        return (uint64_t)slot;
    int doublings = slot / STEPS - 1;
    return ((uint64_t)(slot - doublings * STEPS + 1) << doublings) - 1;
}

/* Returns the time that this part of all rounds did not exceed. */
static double quantile(double part) {
    uint64_t wanted = (uint64_t)(part * laps.count + 0.5), seen = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        seen += laps.slots[slot];
        if (seen >= wanted && seen > 0)
            return end_of(slot) < laps.longest ? (double)end_of(slot) : (double)laps.longest;
    }
    return (double)laps.longest;
}

static void tell(const char *line) {
    puts(line);
    fflush(stdout);
}

/* Records the end of a round. Returns whether it was the last one to measure. */
static int lap(struct plan plan) {
    double now = now_ns(), took = now - laps.last;
    laps.last = now;
    if (plan.kind == ACCOMPANY) {
        uint64_t now_us = (uint64_t)(now / 1e3);
        laps.count++;
        if (now_us - laps.written_at_us >= 1000) {
            laps.written_at_us = now_us;
            if (pwrite(STDOUT_FILENO, &laps.count, sizeof laps.count, 0) != sizeof laps.count)
                exit(1);
            struct pollfd input = {.fd = STDIN_FILENO};
            return poll(&input, 1, 0) == 1;
        }
        return 0;
    }
    if (!laps.is_measuring) {
        if (now - laps.started >= plan.warm_up_ms * 1e6) {
            laps.is_measuring = 1;
            tell("measuring");
            laps.began = clocks_now();
            laps.last = laps.began.wall;
        }
        return 0;
    }
    uint64_t ns = (uint64_t)took;
    laps.sum += took;
    laps.count++;
    laps.slots[slot_of(ns)]++;
    if (ns > laps.longest)
        laps.longest = ns;
    if (now - laps.began.wall < plan.milliseconds * 1e6)
        return 0;
    struct clocks end = clocks_now();
    laps.took = (struct clocks){.wall = end.wall - laps.began.wall, .cpu = end.cpu - laps.began.cpu};
    tell("measured");
    return 1;
}

/* The program of each thread. */
static void all_laps(struct plan plan, int rank) {
    struct witness self = {.rank = rank, .threads = plan.threads, .mask = SAMPLED - 1};
    int is_enough = 0;
    if (rank == 0)
        laps.started = laps.last = now_ns();
    for (unsigned long round = 1;; round++) {
        work_for(work_steps);
        if (is_enough)
            atomic_store_explicit(&last_round.round, round, memory_order_relaxed);
        comes(&self);
        meet();
        leaves(&self);
        if (atomic_load_explicit(&last_round.round, memory_order_relaxed) == round)
            return;
        if (rank == 0)
            is_enough = lap(plan);
    }
}

static void print_laps(void) {
    printf("{\"operations\": %llu, \"ns\": %.3f, \"latency\": {\"p50_ns\": %.0f, \"p99_ns\": %.0f, "
           "\"p999_ns\": %.0f, \"max_ns\": %.0f}, \"seconds\": %.9f, \"cpu_seconds\": %.9f}\n",
           (unsigned long long)laps.count, laps.sum / laps.count, quantile(0.5), quantile(0.99),
           quantile(0.999), (double)laps.longest, laps.took.wall / 1e9, laps.took.cpu / 1e9);
}

/* NAME THREADS KIND WARM_UP_MS MEASURE_MS WORK_NS SECONDS */
static struct plan plan_of_laps(char **typed) {
    struct plan plan = {
        .name = typed[1],
        .threads = (int)number("THREADS", typed[2], 1, MOST_THREADS),
        .kind = MEASURE,
        .warm_up_ms = number("WARM_UP_MS", typed[4], 0, 60000),
        .milliseconds = number("MEASURE_MS", typed[5], 0, 60000),
    };
    if (strcmp(typed[3], "accompany") == 0)
        plan.kind = ACCOMPANY;
    else if (strcmp(typed[3], "measure") != 0)
        fail("KIND: must be measure or accompany");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm((unsigned)number("SECONDS", typed[7], 1, 100000));
    atomic_init(&last_round.round, 0);
    double work_ns = number("WORK_NS", typed[6], 0, 1e9);
    work_steps = work_ns > 0 ? steps_of(work_ns) : 0;
    return plan;
}

#endif
