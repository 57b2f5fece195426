// moodycamel::ConcurrentQueue (Debian: libconcurrentqueue-dev) with a token for each thread:
// without a bound, in order for each producer only, so it counts as unordered.
#include <concurrentqueue/concurrentqueue.h>

#include "pairs.hpp"

struct Queue {
    static constexpr const char *NAME = "moodycamel";
    static constexpr const char *KIND = "jobs";
    static constexpr bool IS_IN_ORDER = false;

    moodycamel::ConcurrentQueue<std::uint64_t> queue{pairs::CAPACITY};

    struct Seat {
        Queue &shared;
        moodycamel::ProducerToken producer;
        moodycamel::ConsumerToken consumer;

        explicit Seat(Queue &shared)
            : shared(shared), producer(shared.queue), consumer(shared.queue) {}

        void put(std::uint64_t value) { shared.queue.enqueue(producer, value); }

        std::uint64_t take() {
            std::uint64_t value = 0;
            pairs::Backoff backoff;
            while (!shared.queue.try_dequeue(consumer, value))
                backoff.wait();
            return value;
        }
    };
};

int main(int count, char **typed) { return pairs::measure<Queue>(count, typed); }
