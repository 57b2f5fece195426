/* The library of throng.h: each function, each error, and crowds. What goes from thread to thread is plain memory,
 * so that a race detector can judge the library. */

#include "check.h"
#include "throng.h"

#define MS UINT64_C(1000000)

static int rounds, count;

static void versions_and_texts(void) {
    CHECK(strcmp(throng_version(), VERSION) == 0);
    for (int code = THRONG_LEADER; code <= THRONG_EINTERNAL; code++) {
        CHECK(strlen(throng_error_text(code)) > 4);
        CHECK(strcmp(throng_error_text(code), throng_error_text(100)) != 0);
        for (int other = THRONG_LEADER; other < code; other++)
            CHECK(strcmp(throng_error_text(code), throng_error_text(other)) != 0);
    }
    CHECK(strcmp(throng_error_text(-2), throng_error_text(100)) == 0);
}

/* ---- Counter ---- */

static throng_counter *counter;
static uint64_t *drawn;
static void *draw(void *number) {
    uint64_t *own = drawn + (long)number * rounds;
    for (int i = 0; i < rounds; i++) CHECK(throng_counter_next(counter, &own[i]) == THRONG_OK);
    return NULL;
}
static int by_value(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}
static void no_number_twice(void) {
    rounds = scaled(20000);
    drawn = calloc(16 * (size_t)rounds, sizeof *drawn);
    CHECK(throng_counter_new(1000, &counter) == THRONG_OK);
    on_threads(16, draw);
    qsort(drawn, 16 * (size_t)rounds, sizeof *drawn, by_value);
    for (int i = 0; i < 16 * rounds; i++) CHECK(drawn[i] == 1000 + (uint64_t)i);
    uint64_t first, next;
    CHECK(throng_counter_next_many(counter, 5, &first) == THRONG_OK);
    CHECK(throng_counter_next(counter, &next) == THRONG_OK && next == first + 5);
    CHECK(throng_counter_destroy(counter) == THRONG_OK);
    free(drawn);
}

/* ---- Barrier and team ---- */

static throng_barrier *barrier;
static throng_member *members[MOST_THREADS];
static int is_team;
static atomic_int leaders;
static long letters[2][MOST_THREADS];

static int meet(long own) {
    int result = is_team ? throng_member_wait(members[own]) : throng_barrier_wait(barrier);
    CHECK(result == THRONG_OK || result == THRONG_LEADER);
    if (is_team) CHECK((result == THRONG_LEADER) == (own == 0));
    return result == THRONG_LEADER;
}
static void *write_letters(void *number) {
    long own = (long)number;
    for (long round = 1; round <= rounds; round++) {
        long *page = letters[round % 2];
        page[own] = round * 1000 + own;
        if (meet(own)) atomic_fetch_add(&leaders, 1);
        for (int other = 0; other < count; other++) CHECK(page[other] == round * 1000 + other);
    }
    return NULL;
}
static void threads_meet(void) {
    for (is_team = 0; is_team < 2; is_team++) {
        for (int i = 0; i < crowds(); i++) {
            count = CROWDS[i];
            rounds = scaled(20000 / (count * count / 16 + 8));
            memset(letters, 0, sizeof letters);
            atomic_store(&leaders, 0);
            if (is_team) CHECK(throng_team_new(count, members) == THRONG_OK);
            else CHECK(throng_barrier_new(count, &barrier) == THRONG_OK);
            on_threads(count, write_letters);
            CHECK(atomic_load(&leaders) == rounds);
            for (int j = 0; is_team && j < count; j++) {
                uint32_t rank;
                CHECK(throng_member_rank(members[j], &rank) == THRONG_OK && rank == (uint32_t)j);
                CHECK(throng_member_destroy(members[j]) == THRONG_OK);
            }
            if (!is_team) CHECK(throng_barrier_destroy(barrier) == THRONG_OK);
        }
    }
}

/* The thread that leads destroys the barrier at once, while others have not returned. */
static throng_barrier *_Atomic in_turn[2];
static void *destroy_in_turn(void *number) {
    (void)number;
    for (int round = 0; round < 2 * rounds; round++) {
        throng_barrier *own = atomic_load(&in_turn[round % 2]);
        int result = throng_barrier_wait(own);
        CHECK(result == THRONG_OK || result == THRONG_LEADER);
        if (result == THRONG_OK) continue;
        CHECK(throng_barrier_destroy(own) == THRONG_OK);
        CHECK(throng_barrier_new(count, &own) == THRONG_OK);
        atomic_store(&in_turn[round % 2], own);
    }
    return NULL;
}
static void destroy_storm(void) {
    for (int i = 0; i < crowds(); i++) {
        count = CROWDS[i];
        rounds = scaled(10000 / (count * count / 16 + 8));
        for (int j = 0; j < 2; j++) {
            throng_barrier *made;
            CHECK(throng_barrier_new(count, &made) == THRONG_OK);
            atomic_store(&in_turn[j], made);
        }
        on_threads(count, destroy_in_turn);
        for (int j = 0; j < 2; j++) CHECK(throng_barrier_destroy(atomic_load(&in_turn[j])) == THRONG_OK);
    }
}

static void *wait_in_vain(void *number) {
    (void)number;
    CHECK(throng_barrier_wait(barrier) == THRONG_EBROKEN);
    return NULL;
}
static void timed_and_aborted(void) {
    pthread_t other;
    int is_broken = 7;
    CHECK(throng_barrier_new(2, &barrier) == THRONG_OK);
    CHECK(throng_barrier_is_broken(barrier, &is_broken) == THRONG_OK && is_broken == 0);
    CHECK(throng_barrier_wait_timeout(barrier, 20 * MS) == THRONG_ETIMEDOUT);
    CHECK(throng_barrier_wait_timeout(barrier, 10000 * MS) == THRONG_EBROKEN);
    CHECK(throng_barrier_wait(barrier) == THRONG_EBROKEN);
    CHECK(throng_barrier_is_broken(barrier, &is_broken) == THRONG_OK && is_broken == 1);
    CHECK(throng_barrier_destroy(barrier) == THRONG_OK);

    CHECK(throng_barrier_new(2, &barrier) == THRONG_OK);
    CHECK(pthread_create(&other, NULL, wait_in_vain, NULL) == 0);
    sleep_ms(100);
    CHECK(throng_barrier_destroy(barrier) == THRONG_EBUSY);
    CHECK(throng_barrier_abort(barrier) == THRONG_OK);
    /* Waits for the other one, which is on its way out. */
    CHECK(throng_barrier_destroy(barrier) == THRONG_OK);
    CHECK(pthread_join(other, NULL) == 0);

    CHECK(throng_barrier_new(1, &barrier) == THRONG_OK);
    CHECK(throng_barrier_wait_timeout(barrier, 10000 * MS) == THRONG_LEADER);
    CHECK(throng_barrier_destroy(barrier) == THRONG_OK);
}

static void *member_waits_in_vain(void *member) {
    int result;
    do result = throng_member_wait(member);
    while (result == THRONG_EBUSY); /* The main thread is asking whether it is broken. */
    CHECK(result == THRONG_EBROKEN);
    return NULL;
}
static void a_member_that_leaves_is_noticed(void) {
    for (int aborts = 0; aborts < 2; aborts++) {
        pthread_t other;
        uint32_t rank;
        int result, is_broken;
        CHECK(throng_team_new(2, members) == THRONG_OK);
        CHECK(pthread_create(&other, NULL, member_waits_in_vain, members[0]) == 0);
        while ((result = throng_member_is_broken(members[0], &is_broken)) != THRONG_EBUSY) {
            CHECK(result == THRONG_OK && is_broken == 0);
            sleep_ms(1);
        }
        CHECK(throng_member_rank(members[0], &rank) == THRONG_OK && rank == 0);
        CHECK(throng_member_wait(members[0]) == THRONG_EBUSY);
        CHECK(throng_member_abort(members[0]) == THRONG_EBUSY);
        CHECK(throng_member_destroy(members[0]) == THRONG_EBUSY);
        if (aborts) CHECK(throng_member_abort(members[1]) == THRONG_OK);
        CHECK(throng_member_destroy(members[1]) == THRONG_OK);
        CHECK(pthread_join(other, NULL) == 0);
        CHECK(throng_member_destroy(members[0]) == THRONG_OK);
    }
    CHECK(throng_team_new(2, members) == THRONG_OK);
    CHECK(throng_member_wait_timeout(members[1], 10 * MS) == THRONG_ETIMEDOUT);
    CHECK(throng_member_wait_timeout(members[0], 10000 * MS) == THRONG_EBROKEN);
    int is_broken = 0;
    CHECK(throng_member_is_broken(members[0], &is_broken) == THRONG_OK && is_broken == 1);
    for (int i = 0; i < 2; i++) CHECK(throng_member_destroy(members[i]) == THRONG_OK);
}

/* ---- Queue and pool ---- */

static throng_queue *queue;
static throng_pool *pool;
static atomic_int producers_left;
static atomic_long sum, popped;

typedef struct { long producer, number; } Job;

#define PRODUCERS 3
#define CONSUMERS 3

static void *produce_or_consume(void *number) {
    long own = (long)number;
    if (own < PRODUCERS) {
        for (long i = 0; i < rounds; i++) {
            Job *job = malloc(sizeof *job);
            *job = (Job){own, i};
            CHECK((queue ? throng_queue_push(queue, job) : throng_pool_push(pool, job)) == THRONG_OK);
        }
        if (atomic_fetch_sub(&producers_left, 1) == 1)
            CHECK((queue ? throng_queue_close(queue) : throng_pool_close(pool)) == THRONG_OK);
        return NULL;
    }
    long last[PRODUCERS] = {-1, -1, -1};
    void *item;
    int result;
    while ((result = queue ? throng_queue_pop(queue, &item) : throng_pool_pop(pool, &item)) == THRONG_OK) {
        Job *job = item;
        if (queue) CHECK(job->number > last[job->producer]);
        last[job->producer] = job->number;
        atomic_fetch_add(&sum, job->number);
        atomic_fetch_add(&popped, 1);
        free(job);
    }
    CHECK(result == THRONG_ECLOSED);
    return NULL;
}
static void produce_and_consume(void) {
    atomic_store(&producers_left, PRODUCERS), atomic_store(&sum, 0), atomic_store(&popped, 0);
    rounds = scaled(20000);
    on_threads(PRODUCERS + CONSUMERS, produce_or_consume);
    CHECK(atomic_load(&popped) == (long)PRODUCERS * rounds);
    CHECK(atomic_load(&sum) == (long)PRODUCERS * rounds * (rounds - 1) / 2);
}
static void each_item_is_popped_once(void) {
    size_t capacities[] = {0, 1, 64};
    pool = NULL;
    for (int i = 0; i < 3; i++) {
        CHECK(throng_queue_new(capacities[i], &queue) == THRONG_OK);
        produce_and_consume();
        CHECK(throng_queue_destroy(queue) == THRONG_OK);
    }
    queue = NULL;
    CHECK(throng_pool_new(&pool) == THRONG_OK);
    produce_and_consume();
    CHECK(throng_pool_destroy(pool) == THRONG_OK);
}

static void answers_of_a_queue(void) {
    int a, b;
    void *item = &b;
    size_t length;
    CHECK(throng_queue_new(1, &queue) == THRONG_OK);
    CHECK(throng_queue_try_pop(queue, &item) == THRONG_EEMPTY && item == &b);
    CHECK(throng_queue_pop_timeout(queue, &item, MS) == THRONG_ETIMEDOUT && item == &b);
    CHECK(throng_queue_try_push(queue, &a) == THRONG_OK);
    CHECK(throng_queue_try_push(queue, &b) == THRONG_EFULL);
    CHECK(throng_queue_push_timeout(queue, &b, MS) == THRONG_ETIMEDOUT);
    CHECK(throng_queue_length(queue, &length) == THRONG_OK && length == 1);
    CHECK(throng_queue_pop_timeout(queue, &item, 10000 * MS) == THRONG_OK && item == &a);
    CHECK(throng_queue_push_timeout(queue, NULL, 10000 * MS) == THRONG_OK);
    CHECK(throng_queue_close(queue) == THRONG_OK && throng_queue_close(queue) == THRONG_OK);
    CHECK(throng_queue_push(queue, &a) == THRONG_ECLOSED);
    CHECK(throng_queue_try_push(queue, &a) == THRONG_ECLOSED);
    CHECK(throng_queue_push_timeout(queue, &a, MS) == THRONG_ECLOSED);
    CHECK(throng_queue_try_pop(queue, &item) == THRONG_OK && item == NULL);
    CHECK(throng_queue_try_pop(queue, &item) == THRONG_ECLOSED);
    CHECK(throng_queue_pop(queue, &item) == THRONG_ECLOSED);
    CHECK(throng_queue_pop_timeout(queue, &item, 10000 * MS) == THRONG_ECLOSED);
    CHECK(throng_queue_destroy(queue) == THRONG_OK);
}
static void answers_of_a_pool(void) {
    int a, b;
    void *job = &b;
    size_t length;
    CHECK(throng_pool_new(&pool) == THRONG_OK);
    CHECK(throng_pool_try_pop(pool, &job) == THRONG_EEMPTY && job == &b);
    CHECK(throng_pool_pop_timeout(pool, &job, MS) == THRONG_ETIMEDOUT);
    CHECK(throng_pool_push(pool, &a) == THRONG_OK && throng_pool_push(pool, NULL) == THRONG_OK);
    CHECK(throng_pool_length(pool, &length) == THRONG_OK && length == 2);
    CHECK(throng_pool_close(pool) == THRONG_OK);
    CHECK(throng_pool_push(pool, &a) == THRONG_ECLOSED);
    CHECK(throng_pool_pop_timeout(pool, &job, 10000 * MS) == THRONG_OK);
    CHECK(throng_pool_pop(pool, &job) == THRONG_OK);
    CHECK(throng_pool_pop(pool, &job) == THRONG_ECLOSED);
    CHECK(throng_pool_try_pop(pool, &job) == THRONG_ECLOSED);
    CHECK(throng_pool_pop_timeout(pool, &job, 10000 * MS) == THRONG_ECLOSED);
    CHECK(throng_pool_destroy(pool) == THRONG_OK);
}

/* ---- Loop ---- */

static void mark(void *context, size_t index) { ((int *)context)[index]++; }
static void mark_inner(void *context, size_t index) {
    CHECK(throng_for_each_index(index * 100, index * 100 + 100, 2, mark, context) == THRONG_OK);
}
static void each_index_is_done_once(void) {
    int marks[10000] = {0};
    size_t threads[] = {0, 1, 2, 7};
    for (int i = 0; i < 4; i++) CHECK(throng_for_each_index(0, 10000, threads[i], mark, marks) == THRONG_OK);
    CHECK(throng_for_each_index(0, 100, 4, mark_inner, marks) == THRONG_OK);
    for (int i = 0; i < 10000; i++) CHECK(marks[i] == 5);
    CHECK(throng_for_each_index(5, 5, 4, mark, NULL) == THRONG_OK);
    CHECK(throng_for_each_index(5, 4, 4, mark, NULL) == THRONG_OK);
    CHECK(throng_for_each_index(0, 5, 4, NULL, NULL) == THRONG_EINVAL);
}

/* ---- Mistakes ---- */

static void wrong_arguments(void) {
    CHECK(throng_counter_new(0, NULL) == THRONG_EINVAL);
    CHECK(throng_barrier_new(2, NULL) == THRONG_EINVAL);
    CHECK(throng_barrier_new(0, &barrier) == THRONG_EINVAL);
    CHECK(throng_barrier_new(65537, &barrier) == THRONG_EINVAL);
    CHECK(throng_team_new(0, members) == THRONG_EINVAL);
    CHECK(throng_team_new(2, NULL) == THRONG_EINVAL);
    CHECK(throng_queue_new(0, NULL) == THRONG_EINVAL);
    CHECK(throng_queue_new((size_t)1 << 33, &queue) == THRONG_EINVAL);
    CHECK(throng_pool_new(NULL) == THRONG_EINVAL);
    CHECK(throng_queue_new(1, &queue) == THRONG_OK);
    CHECK(throng_queue_push(queue, members) == THRONG_OK);
    CHECK(throng_queue_pop(queue, NULL) == THRONG_EINVAL);
    size_t length;
    CHECK(throng_queue_length(queue, &length) == THRONG_OK && length == 1);
    CHECK(throng_queue_destroy(queue) == THRONG_OK);
}
/* Every function answers this handle by the same error. */
static void expect_no_handle(void *wrong) {
    uint64_t number;
    uint32_t rank;
    int is_broken;
    size_t length;
    void *item;
    CHECK(throng_counter_next(wrong, &number) == THRONG_EHANDLE);
    CHECK(throng_counter_next_many(wrong, 2, &number) == THRONG_EHANDLE);
    CHECK(throng_counter_destroy(wrong) == THRONG_EHANDLE);
    CHECK(throng_barrier_wait(wrong) == THRONG_EHANDLE);
    CHECK(throng_barrier_wait_timeout(wrong, 1) == THRONG_EHANDLE);
    CHECK(throng_barrier_abort(wrong) == THRONG_EHANDLE);
    CHECK(throng_barrier_is_broken(wrong, &is_broken) == THRONG_EHANDLE);
    CHECK(throng_barrier_destroy(wrong) == THRONG_EHANDLE);
    CHECK(throng_member_wait(wrong) == THRONG_EHANDLE);
    CHECK(throng_member_wait_timeout(wrong, 1) == THRONG_EHANDLE);
    CHECK(throng_member_abort(wrong) == THRONG_EHANDLE);
    CHECK(throng_member_is_broken(wrong, &is_broken) == THRONG_EHANDLE);
    CHECK(throng_member_rank(wrong, &rank) == THRONG_EHANDLE);
    CHECK(throng_member_destroy(wrong) == THRONG_EHANDLE);
    CHECK(throng_queue_push(wrong, NULL) == THRONG_EHANDLE);
    CHECK(throng_queue_try_push(wrong, NULL) == THRONG_EHANDLE);
    CHECK(throng_queue_push_timeout(wrong, NULL, 1) == THRONG_EHANDLE);
    CHECK(throng_queue_pop(wrong, &item) == THRONG_EHANDLE);
    CHECK(throng_queue_try_pop(wrong, &item) == THRONG_EHANDLE);
    CHECK(throng_queue_pop_timeout(wrong, &item, 1) == THRONG_EHANDLE);
    CHECK(throng_queue_close(wrong) == THRONG_EHANDLE);
    CHECK(throng_queue_length(wrong, &length) == THRONG_EHANDLE);
    CHECK(throng_queue_destroy(wrong) == THRONG_EHANDLE);
    CHECK(throng_pool_push(wrong, NULL) == THRONG_EHANDLE);
    CHECK(throng_pool_pop(wrong, &item) == THRONG_EHANDLE);
    CHECK(throng_pool_try_pop(wrong, &item) == THRONG_EHANDLE);
    CHECK(throng_pool_pop_timeout(wrong, &item, 1) == THRONG_EHANDLE);
    CHECK(throng_pool_close(wrong) == THRONG_EHANDLE);
    CHECK(throng_pool_length(wrong, &length) == THRONG_EHANDLE);
    CHECK(throng_pool_destroy(wrong) == THRONG_EHANDLE);
}
static void wrong_handles(void) {
    static char foreign[256];
    size_t length;
    uint64_t number;
    expect_no_handle(NULL);
    for (int i = 0; i < 16; i++) expect_no_handle(foreign + i);

    CHECK(throng_counter_new(0, &counter) == THRONG_OK);
    CHECK(throng_queue_length((throng_queue *)counter, &length) == THRONG_EHANDLE);
    CHECK(throng_queue_destroy((throng_queue *)counter) == THRONG_EHANDLE);
    CHECK(throng_pool_length((throng_pool *)counter, &length) == THRONG_EHANDLE);
    CHECK(throng_barrier_wait((throng_barrier *)counter) == THRONG_EHANDLE);
    CHECK(throng_counter_next(counter, &number) == THRONG_OK && number == 0);
    CHECK(throng_counter_destroy(counter) == THRONG_OK);
    expect_no_handle(counter);

    CHECK(throng_barrier_new(2, &barrier) == THRONG_OK && throng_barrier_destroy(barrier) == THRONG_OK);
    expect_no_handle(barrier);
    CHECK(throng_queue_new(2, &queue) == THRONG_OK && throng_queue_destroy(queue) == THRONG_OK);
    expect_no_handle(queue);
    CHECK(throng_pool_new(&pool) == THRONG_OK && throng_pool_destroy(pool) == THRONG_OK);
    expect_no_handle(pool);
    CHECK(throng_team_new(1, members) == THRONG_OK && throng_member_destroy(members[0]) == THRONG_OK);
    expect_no_handle(members[0]);
}

int main(int argc, char **argv) {
    read_percent(argc, argv);
    RUN(versions_and_texts);
    RUN(no_number_twice);
    RUN(threads_meet);
    RUN(destroy_storm);
    RUN(timed_and_aborted);
    RUN(a_member_that_leaves_is_noticed);
    RUN(each_item_is_popped_once);
    RUN(answers_of_a_queue);
    RUN(answers_of_a_pool);
    RUN(each_index_is_done_once);
    RUN(wrong_arguments);
    RUN(wrong_handles);
    return 0;
}
