// Tools of a measurement: arguments, work, a histogram, a backoff. All as the lab has them.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace pairs {

constexpr std::size_t CAPACITY = 4096;
constexpr int MOST_THREADS = 1024;
// Pairs between two checks of the phase.
constexpr int STINT = 32;
// Bits of an item that number the items of one thread.
constexpr int NUMBER_BITS = 48;

using Clock = std::chrono::steady_clock;

inline std::uint64_t nanoseconds(Clock::duration time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

[[noreturn]] inline void fail(const std::string &what, int code = 2) {
    std::fprintf(stderr, "error: %s\n", what.c_str());
    std::exit(code);
}

// The typed arguments: CASE THREADS REPETITION MILLISECONDS.
struct Plan {
    bool is_timed = false;
    unsigned work_ns = 0;
    int threads = 0;
    int repetition = 0;
    long milliseconds = 0;

    static long number(const char *what, const char *typed, long least, long most) {
        char *end = nullptr;
        long value = std::strtol(typed, &end, 10);
        if (end == typed || *end != 0 || value < least || value > most)
            fail(std::string(what) + " " + typed + ": must be a whole number from " +
                 std::to_string(least) + " to " + std::to_string(most));
        return value;
    }

    static Plan of(int count, char **typed) {
        if (count != 5)
            fail("usage: PROGRAM WORK_NS|untimed THREADS REPETITION MILLISECONDS");
        Plan plan;
        plan.is_timed = std::strcmp(typed[1], "untimed") != 0;
        if (plan.is_timed)
            plan.work_ns = number("WORK_NS", typed[1], 0, 1000000);
        plan.threads = number("THREADS", typed[2], 1, MOST_THREADS);
        plan.repetition = number("REPETITION", typed[3], 0, 1000);
        plan.milliseconds = number("MILLISECONDS", typed[4], 1, 60000);
        return plan;
    }
};

// SplitMix64, as the lab has it.
inline std::uint64_t mix(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

// Each round needs the result of the one before it, and no memory.
inline void spend(std::uint64_t rounds) {
    std::uint64_t bits = rounds;
    for (std::uint64_t round = 0; round < rounds; round++) {
        bits = mix(bits);
        asm volatile("" : "+r"(bits));
    }
}

// Work of 0 to twice `work_ns`, at random.
class Work {
  public:
    Work(unsigned work_ns, std::uint64_t seed) : random(seed) {
        if (work_ns == 0)
            return;
        constexpr std::uint64_t ROUNDS = 20000;
        std::uint64_t best_ns = ~0ull;
        for (int trial = 0; trial < 3; trial++) {
            auto start = Clock::now();
            spend(ROUNDS);
            best_ns = std::min(best_ns, std::max<std::uint64_t>(nanoseconds(Clock::now() - start), 1));
        }
        most_rounds = ROUNDS * 2 * work_ns / best_ns;
    }

    void once() {
        random += 0x9e3779b97f4a7c15u;
        spend((static_cast<unsigned __int128>(mix(random)) * (most_rounds + 1)) >> 64);
    }

  private:
    std::uint64_t random;
    std::uint64_t most_rounds = 0;
};

// Times to 1 %: 128 buckets for each power of two.
class Histogram {
  public:
    void record(std::uint64_t ns) {
        counts[index(ns)]++;
        count++;
        longest = std::max(longest, ns);
    }

    void add(const Histogram &other) {
        for (std::size_t i = 0; i < counts.size(); i++)
            counts[i] += other.counts[i];
        count += other.count;
        longest = std::max(longest, other.longest);
    }

    std::uint64_t at(double quantile) const {
        std::uint64_t wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(quantile * count + 0.5));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts.size(); i++) {
            seen += counts[i];
            if (seen >= wanted)
                return std::min(upper(i), longest);
        }
        return longest;
    }

    std::uint64_t max() const { return longest; }
    bool is_empty() const { return count == 0; }

  private:
    static constexpr int BITS = 7;

    static std::size_t index(std::uint64_t ns) {
        ns = std::min<std::uint64_t>(ns, (1ull << 36) - 1);
        int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - BITS - 1);
        return (static_cast<std::size_t>(shift) << BITS) + (ns >> shift);
    }

    // The largest time of a bucket.
    static std::uint64_t upper(std::size_t index) {
        if (index < (2u << BITS))
            return index;
        std::size_t shift = (index >> BITS) - 1;
        return (((index & ((1u << BITS) - 1)) + (1u << BITS) + 1) << shift) - 1;
    }

    std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(32u << BITS);
    std::uint64_t count = 0;
    std::uint64_t longest = 0;
};

// Pauses of growing length, then yields: the same loop for all queues that cannot wait.
class Backoff {
  public:
    void wait() {
        if (step < 7) {
            for (int i = 0; i < 1 << step; i++)
                _mm_pause();
            step++;
        } else {
            std::this_thread::yield();
        }
    }

  private:
    int step = 0;
};

} // namespace pairs
