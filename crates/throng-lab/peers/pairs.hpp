// Shared by these programs: the case `pairs` of `throng bench everyday`.
//
// Every thread pushes one item and pops one, until the time is up. With a number of nanoseconds, about that
// much work comes before each call, and every call is timed; `untimed` has no work and no clock. Every item is
// checked: it comes out once, and those of one thread in their order where the queue promises that.
#pragma once

#include <sched.h>

#include <atomic>
#include <memory>

#include "tools.hpp"

namespace pairs {

// Totals of the items pushed or popped.
struct Totals {
    std::uint64_t count = 0, sum = 0, squares = 0;

    void add(std::uint64_t value) {
        count++;
        sum += value;
        squares += value * value;
    }

    void add(const Totals &other) {
        count += other.count;
        sum += other.sum;
        squares += other.squares;
    }

    bool operator==(const Totals &) const = default;
};

enum Phase { GATHERING, WARMING, MEASURING, DONE };

struct alignas(128) Shared {
    std::atomic<int> phase{GATHERING};
    std::atomic<int> ready{0};
};

// The result of one thread.
struct alignas(128) Outcome {
    std::uint64_t pushed = 0, pairs = 0;
    Totals popped;
    bool is_in_order = true;
    Histogram times;
};

inline cpu_set_t allowed;

// Keeps the calling thread on the rank-th core that this process may use, if there is a core for each thread.
inline void pin(int rank, int threads) {
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

// The program of a thread.
template <class Queue, bool IS_TIMED> class Thread {
  public:
    Thread(Queue &queue, const Plan &plan, int rank, Outcome &outcome)
        : seat(queue), work(plan.work_ns, rank + 1), has_work(plan.work_ns > 0), rank(rank), own(outcome),
          last(plan.threads) {}

    void run(Shared &shared) {
        std::uint64_t began = 0;
        int seen = WARMING;
        for (;;) {
            int phase = shared.phase.load(std::memory_order_acquire);
            if (phase != seen) {
                if (seen == WARMING)
                    began = own.popped.count;
                own.pairs = own.popped.count - began;
                seen = phase;
            }
            if (phase == DONE)
                return;
            for (int i = 0; i < STINT; i++)
                pair(phase == MEASURING);
        }
    }

  private:
    void pair([[maybe_unused]] bool is_measuring) {
        if constexpr (!IS_TIMED) {
            push();
            note(seat.take());
        } else {
            auto push_start = work_until(Clock::now());
            push();
            auto push_end = Clock::now();
            auto pop_start = work_until(push_end);
            std::uint64_t value = seat.take();
            auto pop_end = Clock::now();
            note(value);
            if (is_measuring) {
                own.times.record(nanoseconds(push_end - push_start));
                own.times.record(nanoseconds(pop_end - pop_start));
            }
        }
    }

    // Reads the clock after the work before a call. Without work the call follows at once.
    Clock::time_point work_until(Clock::time_point now) {
        if (!has_work)
            return now;
        work.once();
        return Clock::now();
    }

    void push() {
        own.pushed++;
        seat.put((static_cast<std::uint64_t>(rank) << NUMBER_BITS) | own.pushed);
    }

    void note(std::uint64_t value) {
        std::size_t producer = value >> NUMBER_BITS;
        std::uint64_t number = value & ((1ull << NUMBER_BITS) - 1);
        own.popped.add(value);
        if (producer >= last.size() || number <= last[producer]) {
            own.is_in_order = false;
            return;
        }
        last[producer] = number;
    }

    typename Queue::Seat seat;
    Work work;
    bool has_work;
    int rank;
    Outcome &own;
    // The last number from each producer.
    std::vector<std::uint64_t> last;
};

template <class Queue> void judge(const Plan &plan, const std::vector<Outcome> &outcomes) {
    Totals pushed, popped;
    for (std::size_t rank = 0; rank < outcomes.size(); rank++) {
        for (std::uint64_t number = 1; number <= outcomes[rank].pushed; number++)
            pushed.add((static_cast<std::uint64_t>(rank) << NUMBER_BITS) | number);
        popped.add(outcomes[rank].popped);
        if (Queue::IS_IN_ORDER && !outcomes[rank].is_in_order)
            fail(std::string(Queue::NAME) + ": items of a thread came out of order", 1);
    }
    if (!(pushed == popped))
        fail(std::string(Queue::NAME) + " on " + std::to_string(plan.threads) +
                 " threads: other items were popped than pushed", 1);
}

template <class Queue>
void print(const Plan &plan, const std::vector<Outcome> &outcomes, double seconds) {
    std::uint64_t pairs = 0, checked = 0, least = ~0ull, most = 0;
    Histogram times;
    for (const Outcome &outcome : outcomes) {
        pairs += outcome.pairs;
        checked += outcome.popped.count;
        least = std::min(least, outcome.pairs);
        most = std::max(most, outcome.pairs);
        times.add(outcome.times);
    }
    std::string work = plan.is_timed ? std::to_string(plan.work_ns) : "untimed";
    std::printf("{\"name\": \"%s\", \"kind\": \"%s\", \"case\": \"pairs-%s\", \"threads\": %d, "
                "\"repetition\": %d, \"million_per_second\": %.6f, \"checked\": %llu, ",
                Queue::NAME, Queue::KIND, work.c_str(), plan.threads, plan.repetition,
                pairs / seconds / 1e6, static_cast<unsigned long long>(checked));
    if (plan.threads > 1 && most > 0)
        std::printf("\"fairness\": %.4f, ", static_cast<double>(least) / most);
    else
        std::printf("\"fairness\": null, ");
    if (times.is_empty())
        std::printf("\"latency\": null}\n");
    else
        std::printf("\"latency\": {\"p50_ns\": %llu, \"p99_ns\": %llu, \"p999_ns\": %llu, \"max_ns\": %llu}}\n",
                    static_cast<unsigned long long>(times.at(0.5)),
                    static_cast<unsigned long long>(times.at(0.99)),
                    static_cast<unsigned long long>(times.at(0.999)),
                    static_cast<unsigned long long>(times.max()));
}

// Measures one queue once and prints its line of JSON.
template <class Queue> int measure(int count, char **typed) {
    Plan plan = Plan::of(count, typed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    auto queue = std::make_unique<Queue>();
    Shared shared;
    std::vector<Outcome> outcomes(plan.threads);
    auto task = [&]<bool IS_TIMED>(int rank) {
        pin(rank, plan.threads);
        Thread<Queue, IS_TIMED> thread(*queue, plan, rank, outcomes[rank]);
        shared.ready.fetch_add(1);
        while (shared.phase.load(std::memory_order_acquire) == GATHERING)
            std::this_thread::yield();
        thread.run(shared);
    };
    std::vector<std::thread> threads;
    for (int rank = 0; rank < plan.threads; rank++)
        threads.emplace_back([&, rank] {
            plan.is_timed ? task.template operator()<true>(rank) : task.template operator()<false>(rank);
        });
    while (shared.ready.load() < plan.threads)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    std::chrono::milliseconds time(plan.milliseconds);
    shared.phase.store(WARMING, std::memory_order_release);
    std::this_thread::sleep_for(time / 4.0);
    auto start = Clock::now();
    shared.phase.store(MEASURING, std::memory_order_release);
    std::this_thread::sleep_for(time);
    double seconds = nanoseconds(Clock::now() - start) / 1e9;
    shared.phase.store(DONE, std::memory_order_release);
    for (std::thread &thread : threads)
        thread.join();
    judge<Queue>(plan, outcomes);
    print<Queue>(plan, outcomes, seconds);
    return 0;
}

} // namespace pairs
