/* The barrier of an OpenMP runtime, measured as `throng bench barriers` measures. */
#include "rounds.h"

#include <omp.h>

static inline void meet(void) {
#pragma omp barrier
}

int main(int count, char **typed) {
    struct plan plan = plan_of(count, typed);
    remember_cores();
    int got = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(plan.threads)
    {
#pragma omp single
        got = omp_get_num_threads();
        if (got == plan.threads)
            all_repetitions(plan, omp_get_thread_num());
    }
    if (got != plan.threads)
        fail("not enough threads");
    return report(plan);
}
