/* The barrier of POSIX threads, measured as `throng bench barriers` measures. */
#include "rounds.h"

#include <pthread.h>

static struct plan plan;
static pthread_barrier_t barrier;

static inline void meet(void) {
    pthread_barrier_wait(&barrier);
}

static void *work(void *rank) {
    all_repetitions(plan, (int)(long)rank);
    return NULL;
}

int main(int count, char **typed) {
    plan = plan_of(count, typed);
    remember_cores();
    pthread_t threads[MOST_THREADS];
    if (pthread_barrier_init(&barrier, NULL, plan.threads) != 0)
        fail("no barrier");
    for (long rank = 0; rank < plan.threads; rank++)
        if (pthread_create(&threads[rank], NULL, work, (void *)rank) != 0)
            fail("not enough threads");
    for (int rank = 0; rank < plan.threads; rank++)
        pthread_join(threads[rank], NULL);
    return report(plan);
}
