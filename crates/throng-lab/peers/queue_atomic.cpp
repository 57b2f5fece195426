// atomic_queue (Debian: libatomic-queue-dev): a bounded ring, first in, first out. `push` and `pop` draw a ticket by
// `fetch_add` and wait at the slot.
#include <atomic_queue/atomic_queue.h>

#include "pairs.hpp"

struct Queue {
    static constexpr const char *NAME = "atomic-queue";
    static constexpr const char *KIND = "bounded";
    // Not checked: once, on 8 threads, items of one thread came out of order. Probably two pushes whose tickets were a
    // lap apart waited at the same slot, which does not tell which of them is first.
    static constexpr bool IS_IN_ORDER = false;

    atomic_queue::AtomicQueue2<std::uint64_t, pairs::CAPACITY> queue;

    struct Seat {
        Queue &shared;
        explicit Seat(Queue &shared) : shared(shared) {}
        void put(std::uint64_t value) { shared.queue.push(value); }
        std::uint64_t take() { return shared.queue.pop(); }
    };
};

int main(int count, char **typed) { return pairs::measure<Queue>(count, typed); }
