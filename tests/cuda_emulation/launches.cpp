// SPDX-License-Identifier: MIT
// launches.cpp - runs the invocations of a launch: groups of them in a seeded random order, over several threads, and
// within a group in an order of its own. Threads are std::thread, whose synchronisation the thread sanitizer knows.
#include "emulator.h"

#include <unistd.h>

namespace
{

#if defined(__SANITIZE_THREAD__)
const bool FAIR = true; // every thread has its share, whoever comes first: on one thread no two invocations would race
#else
const bool FAIR = false;
#endif
const unsigned WARP = 32;  // invocations of a group
const unsigned ALONE = 16; // groups of a launch that is not worth waking another thread for

struct Launch {
    unsigned groups, groups_a_block, threads;
    unsigned stride, offset; // of the order of groups
    uint32_t seed;
    const std::function<void(const EmulatedLanes &)> *run;
};

uint32_t scramble(uint32_t x)
{
    x ^= x >> 16; // lowbias32
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

unsigned common_divisor(unsigned a, unsigned b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

void run_group(const Launch &launch, unsigned number)
{
    const unsigned group = (unsigned)(((uint64_t)number * launch.stride + launch.offset) % launch.groups);
    const unsigned first = group % launch.groups_a_block * WARP;
    const uint32_t random = scramble(launch.seed ^ group);
    const EmulatedLanes lanes = {.block = group / launch.groups_a_block,
                                 .block_size = launch.threads,
                                 .first = first,
                                 .count = launch.threads - first < WARP ? launch.threads - first : WARP,
                                 .stride = launch.threads % WARP == 0 ? 2 * (random % WARP) + 1 : 1,
                                 .offset = random >> 8 & 1023};
    (*launch.run)(lanes);
}

// Threads that wait for launches until the process ends.
struct Pool {
    std::mutex lock, in_use;
    std::condition_variable begin, end;
    std::vector<std::thread> threads;
    const pid_t process = getpid(); // a forked one has none of these threads
    const Launch *launch = nullptr;
    uint64_t number = 0; // of launches so far
    unsigned running = 0, begun = 0;
    std::atomic<unsigned> next{0};

    Pool()
    {
        const char *said = getenv("MOTE_CUDA_THREADS");
        const int wanted = said != nullptr ? atoi(said) : 2;
        for (int i = 1; i < wanted; i++) {
            threads.emplace_back([this, i] { wait_for_launches((unsigned)i); });
            threads.back().detach();
        }
    }

    void take_groups(const Launch &work, unsigned thread)
    {
        if (FAIR) {
            for (unsigned g = thread; g < work.groups; g += (unsigned)threads.size() + 1) {
                run_group(work, g);
            }
            return;
        }
        for (unsigned g; (g = next.fetch_add(1, std::memory_order_relaxed)) < work.groups;) {
            run_group(work, g);
        }
    }

    void wait_for_launches(unsigned thread)
    {
        for (uint64_t seen = 0;;) {
            std::unique_lock<std::mutex> guard(lock);
            begin.wait(guard, [&] { return number != seen; });
            seen = number;
            const Launch *const mine = launch;
            if (mine == nullptr) {
                continue; // it has ended already
            }
            running += FAIR ? 0 : 1;
            begun++;
            end.notify_one();
            guard.unlock();
            take_groups(*mine, thread);
            guard.lock();
            running--;
            end.notify_one();
        }
    }

    void run(const Launch &work)
    {
        std::unique_lock<std::mutex> guard(lock);
        launch = &work;
        number++;
        running = FAIR ? (unsigned)threads.size() : 0;
        begun = 0;
        next.store(0, std::memory_order_relaxed);
        begin.notify_all();
        if (FAIR) { // who takes the lock later would have seen what this thread has done: no race
            end.wait(guard, [&] { return begun == threads.size(); });
        }
        guard.unlock();
        take_groups(work, 0);
        guard.lock();
        end.wait(guard, [&] { return running == 0; });
        launch = nullptr;
    }
};

} // namespace

void launch_run(unsigned blocks, unsigned threads, uint32_t seed, const std::function<void(const EmulatedLanes &)> &run)
{
    static Pool *const pool = new Pool; // never destroyed: its threads use it
    Launch launch = {};
    launch.groups_a_block = (threads + WARP - 1) / WARP;
    launch.threads = threads;
    launch.seed = scramble(seed);
    launch.run = &run;
    launch.groups = blocks * launch.groups_a_block;
    launch.stride = launch.groups / 2 + scramble(seed + 1) % (launch.groups / 2 + 1);
    while (common_divisor(launch.groups, launch.stride) != 1) {
        launch.stride++;
    }
    launch.offset = scramble(seed + 2) % launch.groups;
    std::unique_lock<std::mutex> only(pool->in_use, std::try_to_lock);
    if (only.owns_lock() && getpid() == pool->process && launch.groups > (FAIR ? 1 : ALONE)) {
        pool->run(launch);
        return;
    }
    for (unsigned g = 0; g < launch.groups; g++) {
        run_group(launch, g);
    }
}
