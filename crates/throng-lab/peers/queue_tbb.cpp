// tbb::concurrent_queue of oneTBB: first in, first out, without a bound.
#include <tbb/concurrent_queue.h>

#include "pairs.hpp"

struct Queue {
    static constexpr const char *NAME = "tbb";
    static constexpr const char *KIND = "unbounded";
    static constexpr bool IS_IN_ORDER = true;

    tbb::concurrent_queue<std::uint64_t> queue;

    struct Seat {
        Queue &shared;
        explicit Seat(Queue &shared) : shared(shared) {}
        void put(std::uint64_t value) { shared.queue.push(value); }

        std::uint64_t take() {
            std::uint64_t value = 0;
            pairs::Backoff backoff;
            while (!shared.queue.try_pop(value))
                backoff.wait();
            return value;
        }
    };
};

int main(int count, char **typed) { return pairs::measure<Queue>(count, typed); }
