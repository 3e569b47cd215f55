// host_threads.cpp -- runs a grid's threads on the host, one at a time, each on its own stack.
//
//   PROGRAM INPUT OUTPUT ORDER [NAME ...]
//
// A thread runs until it waits: at a barrier, for the lanes of an exchange, or when it yields. Then
// the next thread runs. ORDER is 0 (threads and blocks by their index) or 1 (from the last to the
// first); an undefined value differs between the two. So two runs find a program whose results
// depend on the order or on an undefined value.
#include "language.h"
#include "target/switch_stack.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

extern const host::Program random_programs[];
extern const unsigned random_program_count;

namespace host {
namespace {

struct Block;
struct Warp;

constexpr size_t StackBytes = 256 * 1024;
constexpr u64 MostRounds = 200000;

struct Thread : Here {
    void *stack = nullptr; // its stack pointer, while another runs
    Block *owner = nullptr;
    Warp *warp = nullptr;
    bool done = false;
    const bool *waits_for = nullptr; // continues when this is true
    bool yielded = false;
};

/// Lanes of one exchange. It exists until each of them has read the others' values.
struct Meeting {
    Meet what;
    u32 mask = 0, arrived = 0;
    bool complete = false;
    Exchange exchange{};
    u32 readers = 0;
};

struct Warp {
    u32 alive = 0;
    std::vector<std::unique_ptr<Meeting>> meetings;

    void complete_ready_meetings() {
        for (auto &meeting : meetings)
            if (!meeting->complete && (meeting->mask & alive & ~meeting->arrived) == 0)
                meeting->complete = true;
    }
};

struct Gathering {
    u32 count = 0;
    Arrivals arrivals{0, 1, 0};
    bool complete = false;
    u32 readers = 0;
};

struct Block {
    u32 threads = 0, alive = 0;
    std::vector<Warp> warps;
    std::map<u32, std::vector<char>> shared;
    std::vector<char> dynamic;
    std::vector<std::unique_ptr<Gathering>> open = std::vector<std::unique_ptr<Gathering>>(16);
    std::vector<std::unique_ptr<Gathering>> complete;
    u32 wanted[16] = {};

    void complete_barrier(u32 id) {
        open[id]->complete = true;
        complete.push_back(std::move(open[id]));
    }
};

Thread *running = nullptr;
void *scheduler = nullptr;

void wait_for(const bool *condition) {
    running->waits_for = condition;
    scu_switch_stack(&running->stack, scheduler);
}

struct Arguments {
    const Program *program;
    const u32 *in;
    const u32 *rows[16];
    u32 *scratch, *flags, *sums, *out;
} arguments;

void run_thread(void *) {
    const Arguments &a = arguments;
    a.program->run(a.in, a.rows, a.scratch, a.flags, a.sums, a.out, 5, 19, -5, 0xfffffff5u, -3,
                   0xfffffffffffffff3u);
    Thread &thread = *running;
    thread.done = true;
    thread.warp->alive &= ~(1u << thread.lane);
    thread.warp->complete_ready_meetings();
    Block &block = *thread.owner;
    block.alive--;
    if (block.open[0] && block.open[0]->count == block.alive && block.wanted[0] == 0)
        block.complete_barrier(0);
    scu_switch_stack(&thread.stack, scheduler);
}

} // namespace

const Here *here;
u64 undefined;

void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", arguments.program->name, what);
    fflush(stderr);
    _exit(3);
}

Exchange exchange(Meet what, u32 mask, u64 value) {
    Thread &thread = *running;
    Warp &warp = *thread.warp;
    if (!(mask >> thread.lane & 1))
        fail("a lane is not in the mask that it names");
    Meeting *found = nullptr;
    for (auto &meeting : warp.meetings)
        if (!meeting->complete && meeting->mask == mask)
            found = meeting.get();
    if (!found) {
        warp.meetings.push_back(std::make_unique<Meeting>());
        found = warp.meetings.back().get();
        found->what = what;
        found->mask = mask;
    }
    if (found->what != what)
        fail("lanes meet at different operations");
    found->arrived |= 1u << thread.lane;
    found->exchange.values[thread.lane] = value;
    found->readers++;
    warp.complete_ready_meetings();
    if (!found->complete)
        wait_for(&found->complete);
    found->exchange.lanes = found->arrived;
    Exchange result = found->exchange;
    if (--found->readers == 0)
        for (size_t i = 0; i < warp.meetings.size(); i++)
            if (warp.meetings[i].get() == found) {
                warp.meetings.erase(warp.meetings.begin() + (long)i);
                break;
            }
    return result;
}

Arrivals barrier(u32 id, u32 count, u32 value) {
    Block &block = *running->owner;
    if (!block.open[id]) {
        block.open[id] = std::make_unique<Gathering>();
        block.wanted[id] = count;
    }
    if (block.wanted[id] != count)
        fail("a barrier with different counts");
    Gathering *gathering = block.open[id].get();
    gathering->count++;
    gathering->readers++;
    gathering->arrivals.sum += value;
    gathering->arrivals.all &= value;
    gathering->arrivals.any |= value;
    if (gathering->count == (count ? count : block.alive))
        block.complete_barrier(id);
    if (!gathering->complete)
        wait_for(&gathering->complete);
    Arrivals result = gathering->arrivals;
    if (--gathering->readers == 0)
        for (size_t i = 0; i < block.complete.size(); i++)
            if (block.complete[i].get() == gathering) {
                block.complete.erase(block.complete.begin() + (long)i);
                break;
            }
    return result;
}

void yield() {
    running->yielded = true;
    wait_for(nullptr);
}

void *shared_memory(u32 id, u64 bytes) {
    std::vector<char> &memory = running->owner->shared[id];
    if (memory.empty())
        memory.assign(bytes + 16, (char)undefined);
    return (char *)(((size_t)memory.data() + 15) & ~(size_t)15);
}

void *dynamic_shared_memory() { return running->owner->dynamic.data(); }

namespace {

/// Words between inaccessible pages: directly after the last word, and directly before the first
/// one if the words fill whole pages.
class GuardedWords {
  public:
    explicit GuardedWords(size_t count) : count_(count) {
        const size_t page = 4096, bytes = count * 4, inner = (bytes + page - 1) / page * page;
        memory_ =
            (char *)mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED || mprotect(memory_ + page, inner, PROT_READ | PROT_WRITE) != 0)
            fail("no memory for buffers");
        words_ = (u32 *)(memory_ + page + inner - bytes);
    }
    u32 *data() { return words_; }
    size_t size() const { return count_; }

  private:
    size_t count_;
    char *memory_;
    u32 *words_;
};

void run_grid(const Program &program, int order) {
    const u32 per_block = program.block.x * program.block.y * program.block.z;
    const u32 block_count = program.grid.x * program.grid.y * program.grid.z;
    std::vector<Block> blocks(block_count);
    std::vector<Thread> threads(block_count * per_block);
    char *stacks = (char *)mmap(nullptr, threads.size() * StackBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        fail("no memory for stacks");
    for (u32 b = 0; b < block_count; b++) {
        Block &block = blocks[b];
        block.threads = block.alive = per_block;
        block.warps.resize((per_block + 31) / 32);
        block.dynamic.assign(program.dynamic_bytes + 16, (char)undefined);
        for (u32 t = 0; t < per_block; t++) {
            Thread &thread = threads[b * per_block + t];
            thread.thread = {t % program.block.x, t / program.block.x % program.block.y,
                             t / program.block.x / program.block.y};
            thread.block = {b % program.grid.x, b / program.grid.x % program.grid.y,
                            b / program.grid.x / program.grid.y};
            thread.block_size = program.block;
            thread.grid_size = program.grid;
            thread.lane = t % 32;
            thread.owner = &block;
            thread.warp = &block.warps[t / 32];
            thread.warp->alive |= 1u << thread.lane;
            char *top = stacks + (b * per_block + t + 1) * StackBytes;
            thread.stack = softcuda::target::prepare_stack((std::byte *)top, run_thread, nullptr);
        }
    }
    size_t left = threads.size();
    for (u64 round = 0; left > 0; round++) {
        bool moved = false;
        for (size_t i = 0; i < threads.size(); i++) {
            Thread &thread = threads[order ? threads.size() - 1 - i : i];
            if (thread.done || (thread.waits_for && !*thread.waits_for))
                continue;
            thread.waits_for = nullptr;
            running = &thread;
            here = &thread;
            scu_switch_stack(&scheduler, thread.stack);
            moved = true;
            left -= thread.done;
        }
        if (!moved)
            fail("all threads wait");
        if (round == MostRounds)
            fail("threads spin without end");
    }
    munmap(stacks, threads.size() * StackBytes);
}

/// The memory after a launch: scratch, flags, sums and out, one after another.
GuardedWords run_program(const Program &program, GuardedWords &input, int order) {
    const u32 threads = program.grid.x * program.grid.y * program.grid.z * program.block.x *
                        program.block.y * program.block.z;
    undefined = order ? 0x9d9d9d9d9d9d9d9dull : 0x4747474747474747ull;
    GuardedWords buffers(threads * 16 + 4096 + 64 + threads * 8);
    arguments.program = &program;
    arguments.in = input.data();
    for (int row = 0; row < 16; row++)
        arguments.rows[row] = input.data() + 4096 + row * 256 + 128;
    arguments.scratch = buffers.data();
    arguments.flags = arguments.scratch + threads * 16;
    arguments.sums = arguments.flags + 4096;
    arguments.out = arguments.sums + 64;
    run_grid(program, order);
    return buffers;
}

} // namespace
} // namespace host

/// Runs each program in a separate process. The output has for each its exit status, the number of
/// its words, and its words.
int main(int count, char **words) {
    if (count < 4)
        return 2;
    host::GuardedWords input(4096 + 16 * 256);
    FILE *file = fopen(words[1], "rb");
    if (!file || fread(input.data(), 4, input.size(), file) != input.size())
        return 2;
    fclose(file);
    FILE *output = fopen(words[2], "wb");
    const int order = atoi(words[3]);
    for (unsigned i = 0; i < random_program_count; i++) {
        const host::Program &program = random_programs[i];
        bool wanted = count == 4;
        for (int word = 4; word < count; word++)
            wanted |= std::string(words[word]) == program.name;
        if (!wanted)
            continue;
        fflush(output);
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            host::GuardedWords results = host::run_program(program, input, order);
            const u32 head[2] = {0, (u32)results.size()};
            fwrite(head, 4, 2, output);
            fwrite(results.data(), 4, results.size(), output);
            fflush(output);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) {
            const u32 head[2] = {(u32)status, 0};
            fseek(output, 0, SEEK_END);
            fwrite(head, 4, 2, output);
        }
    }
    return fclose(output);
}
