/* Shared counters, barriers, queues and pools that keep their speed as the number of threads grows.
 *
 * Every function that can fail returns an int: THRONG_OK, or an error above 0 that throng_error_text explains.
 * A wait at a barrier also returns THRONG_LEADER, to one thread of each round.
 *
 * Handles. A handle is made by a function `.._new`, which writes it through its last argument, and ends with
 * `.._destroy`. A call with a null handle, a handle of another kind or a destroyed handle returns
 * THRONG_EHANDLE (with a destroyed one until another handle gets the same address). Any other pointer must
 * point to readable memory. No handle may be destroyed while another call uses it, except as throng_barrier_destroy
 * says.
 *
 * Pointers for results must not be null (THRONG_EINVAL). Nothing is written through them if the call fails.
 *
 * Threads. All functions may be called from any thread at the same time; a throng_member is for one thread at
 * a time. None of them is async-signal-safe. A thread must not be cancelled inside a call: where
 * pthread_cancel is used, disable it around calls. In a forked child, make new handles.
 *
 * Memory. The functions `.._new` return THRONG_ENOMEM where there is not enough. They test this before they begin;
 * if another thread takes the memory just after the test, the process is aborted, as in most programs of Rust. A push
 * to a pool or to a queue without a bound may allocate, and aborts the process where there is no memory. */
#ifndef THRONG_H
#define THRONG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    THRONG_LEADER = -1,    /* The round is complete, and this thread is its leader. Not an error. */
    THRONG_OK = 0,         /* Success. */
    THRONG_EINVAL = 1,     /* An argument is out of range, or a pointer for a result is null. */
    THRONG_EHANDLE = 2,    /* The handle is null, destroyed, or of another kind. */
    THRONG_EBROKEN = 3,    /* The barrier is broken: a thread timed out, left or aborted it. */
    THRONG_ETIMEDOUT = 4,  /* The time limit has passed. */
    THRONG_EFULL = 5,      /* The queue is full. */
    THRONG_EEMPTY = 6,     /* There is no item. */
    THRONG_ECLOSED = 7,    /* The queue or pool is closed. */
    THRONG_EBUSY = 8,      /* Another thread uses the handle. */
    THRONG_EINTERNAL = 9,  /* A bug in the library; its message is on standard error. */
    THRONG_ENOMEM = 10     /* There is not enough memory. */
};

/* Returns a sentence about a code. It lives as long as the program. */
const char *throng_error_text(int code);

/* Returns the version of the library, such as "0.1.0". */
const char *throng_version(void);

/* ---- Counter: hands out start, start + 1, start + 2, ..., no number twice. ---- */

typedef struct throng_counter throng_counter;

/* Makes a counter whose first number is `start`. */
int throng_counter_new(uint64_t start, throng_counter **counter);

/* Draws the next number. */
int throng_counter_next(throng_counter *counter, uint64_t *number);

/* Draws the next `count` numbers, which are consecutive, and writes the first of them. */
int throng_counter_next_many(throng_counter *counter, uint64_t count, uint64_t *first);

/* Destroys a counter. */
int throng_counter_destroy(throng_counter *counter);

/* ---- Barrier: any n threads wait for each other, round after round. ---- */

typedef struct throng_barrier throng_barrier;

/* Makes a barrier for `members` threads, 1 to 65536. */
int throng_barrier_new(uint32_t members, throng_barrier **barrier);

/* Waits until all members have arrived. Returns THRONG_LEADER to one of them and THRONG_OK to the others;
 * THRONG_EBROKEN to all if the barrier is broken. */
int throng_barrier_wait(throng_barrier *barrier);

/* Waits until all members have arrived, for `nanoseconds` at most. A thread whose time limit has passed gets
 * THRONG_ETIMEDOUT and breaks the barrier for good; the others get THRONG_EBROKEN, at the latest 640 ms later. */
int throng_barrier_wait_timeout(throng_barrier *barrier, uint64_t nanoseconds);

/* Breaks the barrier for good: waiting threads get THRONG_EBROKEN, at the latest 640 ms later, and threads
 * that arrive later get it at once. */
int throng_barrier_abort(throng_barrier *barrier);

/* Writes 1 if the barrier is broken, else 0. */
int throng_barrier_is_broken(throng_barrier *barrier, int *is_broken);

/* Destroys a barrier. A thread that has returned from a wait may call it at once: it waits until all other threads
 * of the round have returned. Returns THRONG_EBUSY if threads wait for a round that is not complete: abort it
 * before. */
int throng_barrier_destroy(throng_barrier *barrier);

/* ---- Team: a barrier whose members have ranks. A little faster, and broken by a member that leaves. ---- */

typedef struct throng_member throng_member;

/* Makes a team of 1 to 65536 members, and writes the handles of ranks 0, 1, ... to `handles[0]`, `handles[1]`, ...
 * Give neighbouring ranks to threads on neighbouring cores. */
int throng_team_new(uint32_t members, throng_member **handles);

/* As throng_barrier_wait; rank 0 leads. THRONG_EBUSY if another thread uses this member. */
int throng_member_wait(throng_member *member);

/* As throng_barrier_wait_timeout. THRONG_EBUSY if another thread uses this member. */
int throng_member_wait_timeout(throng_member *member, uint64_t nanoseconds);

/* Breaks the barrier of the team. THRONG_EBUSY if another thread uses this member: use one that does not wait. */
int throng_member_abort(throng_member *member);

/* Writes 1 if the barrier of the team is broken, else 0. THRONG_EBUSY if another thread uses this member. */
int throng_member_is_broken(throng_member *member, int *is_broken);

/* Writes the rank of a member. */
int throng_member_rank(throng_member *member, uint32_t *rank);

/* Destroys a member. THRONG_EBUSY if another thread uses it. The other members get THRONG_EBROKEN in the first round
 * at which it did not arrive. */
int throng_member_destroy(throng_member *member);

/* ---- Queue of pointers: first in, first out. A pointer may be null; the queue never follows it. ---- */

typedef struct throng_queue throng_queue;

/* Makes a queue for `capacity` items, at most 2^32; 0: without a bound. */
int throng_queue_new(size_t capacity, throng_queue **queue);

/* Pushes an item; waits while the queue is full. THRONG_ECLOSED if it is closed. */
int throng_queue_push(throng_queue *queue, void *item);

/* Pushes an item, and never waits. THRONG_EFULL, or THRONG_ECLOSED. */
int throng_queue_try_push(throng_queue *queue, void *item);

/* Pushes an item; waits while the queue is full, for `nanoseconds` at most. THRONG_ETIMEDOUT, or THRONG_ECLOSED. */
int throng_queue_push_timeout(throng_queue *queue, void *item, uint64_t nanoseconds);

/* Pops the oldest item; waits while the queue is empty. THRONG_ECLOSED if it is closed and empty. */
int throng_queue_pop(throng_queue *queue, void **item);

/* Pops the oldest item, and never waits. THRONG_EEMPTY, or THRONG_ECLOSED if it is closed and empty. */
int throng_queue_try_pop(throng_queue *queue, void **item);

/* Pops the oldest item; waits while the queue is empty, for `nanoseconds` at most. THRONG_ETIMEDOUT, or
 * THRONG_ECLOSED if it is closed and empty. */
int throng_queue_pop_timeout(throng_queue *queue, void **item, uint64_t nanoseconds);

/* Closes the queue: later pushes fail, and the items inside can still be popped. */
int throng_queue_close(throng_queue *queue);

/* Writes the number of items inside. */
int throng_queue_length(throng_queue *queue, size_t *length);

/* Destroys a queue. It does not touch the memory that the items inside point to. */
int throng_queue_destroy(throng_queue *queue);

/* ---- Pool of pointers: like the queue, but without an order and without a bound; faster. ---- */

typedef struct throng_pool throng_pool;

/* Makes a pool without a bound. */
int throng_pool_new(throng_pool **pool);

/* Pushes a job, and never waits. THRONG_ECLOSED. */
int throng_pool_push(throng_pool *pool, void *job);

/* Pops a job; waits while the pool is empty. THRONG_ECLOSED if it is closed and empty. */
int throng_pool_pop(throng_pool *pool, void **job);

/* Pops a job, and never waits for one. THRONG_EEMPTY, or THRONG_ECLOSED if it is closed and empty. */
int throng_pool_try_pop(throng_pool *pool, void **job);

/* Pops a job; waits while the pool is empty, for `nanoseconds` at most. THRONG_ETIMEDOUT, or THRONG_ECLOSED if it is
 * closed and empty. */
int throng_pool_pop_timeout(throng_pool *pool, void **job, uint64_t nanoseconds);

/* Closes the pool: later pushes fail, and the jobs inside can still be popped. */
int throng_pool_close(throng_pool *pool);

/* Writes the number of jobs inside. */
int throng_pool_length(throng_pool *pool, size_t *length);

/* Destroys a pool. It does not touch the memory that the jobs inside point to. */
int throng_pool_destroy(throng_pool *pool);

/* ---- Parallel loop ---- */

/* Does the work of one index. It must return: no longjmp, no exception, no pthread_exit. */
typedef void (*throng_index_function)(void *context, size_t index);

/* Calls `function(context, index)` once for each index from `start` to `end` - 1, on up to `threads` threads, of
 * which the caller is one; 0: one for each core. Returns when all indices are done. No index may wait for
 * another. Helping threads are kept for about a second for the next loop. */
int throng_for_each_index(size_t start, size_t end, size_t threads, throng_index_function function, void *context);

#ifdef __cplusplus
}
#endif

#endif
