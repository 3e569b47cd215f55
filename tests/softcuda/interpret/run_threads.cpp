// run_threads.cpp -- one program counter for each thread.
//
// A thread runs until its turn is over, or until it waits: for the members of an exchange, or at a
// barrier of the block. All blocks of the grid are resident.
#include "interpret/run_threads.h"

#include "interpret/barriers.h"
#include "interpret/exchange.h"
#include "interpret/thread_operation.h"
#include "ir/exchange.h"

#include <algorithm>
#include <deque>
#include <memory>

namespace softcuda::interpret {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

constexpr unsigned kTurn = 100;                      ///< instructions
constexpr std::uint64_t kMostInstructions = 1 << 24; ///< of the whole launch
constexpr std::uint64_t kCallStack = 16 * 1024;      ///< bytes of local memory

/// A function that a thread is in.
struct Frame {
    const ir::Function *function = nullptr;
    const Block *block = nullptr;
    std::size_t next = 0; ///< instruction
    std::vector<std::uint64_t> values;
    std::uint64_t depth = 0; ///< the start of its local variables
    std::uint64_t taken = 0; ///< the end of the allocas
};

enum class Status { Ready, AtExchange, AtBarrier, Ended };

struct Running {
    Thread thread;
    std::vector<Frame> frames;
    Status status = Status::Ready;
    const Instruction *waits_at = nullptr;
    std::uint32_t barrier = 0;

    [[nodiscard]] Frame &frame() { return frames.back(); }
};

std::uint64_t read(const Frame &frame, const Value *value) {
    return value->constant ? value->bits : frame.values[value->id];
}

std::vector<std::uint64_t> read_all(const Frame &frame, const Instruction &i) {
    std::vector<std::uint64_t> found;
    for (const Value *operand : i.operands)
        found.push_back(read(frame, operand));
    return found;
}

class BlockOfThreads {
  public:
    BlockOfThreads(const ir::Module &module, const ir::Function &kernel, Launch &launch,
                   std::uint64_t index)
        : module_(module), memory_(launch, kernel, index, local_bytes(kernel)),
          barriers_(launch.warps()), live_(launch.warps(), 0) {
        for (std::uint32_t number = 0; number < launch.threads(); ++number) {
            threads_.push_back({.thread = {launch, memory_, number}, .frames = {}});
            enter(threads_.back(), kernel, 0);
            live_[number / kLanes] |= std::uint32_t{1} << number % kLanes;
        }
        for (unsigned warp = 0; warp < live_.size(); ++warp)
            barriers_.set_live(warp, live_[warp]);
    }

    /// False if no thread could run.
    bool take_turns(std::uint64_t &left) {
        bool ran = false;
        for (Running &r : threads_) {
            if (r.status != Status::Ready)
                continue;
            ran = true;
            run(r, left);
        }
        for (unsigned warp = 0; warp < live_.size(); ++warp)
            ran |= meet(warp);
        while (const auto passed = barriers_.open_one()) {
            open(*passed);
            ran = true;
        }
        return ran;
    }

    [[nodiscard]] bool ended() const {
        return std::ranges::all_of(threads_,
                                   [](const Running &r) { return r.status == Status::Ended; });
    }

  private:
    static std::uint64_t local_bytes(const ir::Function &kernel) {
        return (std::uint64_t{kernel.local_bytes} + 15) / 16 * 16 + kCallStack;
    }

    static void enter(Running &r, const ir::Function &function, std::uint64_t depth) {
        if (depth + function.local_bytes > r.thread.block.local_stride)
            throw Stopped(Stop::Faulted, "a stack overflow");
        r.frames.push_back({.function = &function,
                            .block = function.entry(),
                            .values = std::vector<std::uint64_t>(function.value_count()),
                            .depth = depth});
    }

    void run(Running &r, std::uint64_t &left) {
        for (unsigned n = 0; n < kTurn && r.status == Status::Ready; ++n) {
            if (left-- == 0)
                refuse("more instructions than the interpreter's limit");
            step(r);
        }
    }

    void step(Running &r) {
        Frame &frame = r.frame();
        const Instruction &i = *frame.block->instructions[frame.next];
        if (ir::info(i.opcode).terminator)
            return leave(r, i);
        if (i.is(Opcode::Call))
            return call(r, i);
        if (ir::is_exchange(i)) {
            if (ir::takes_active_lanes(i))
                refuse("exchanges among the lanes that happen to be active");
            r.status = Status::AtExchange;
            r.waits_at = &i;
            return;
        }
        if (ir::is_block_barrier(i))
            return arrive(r, i);
        if (i.is(Opcode::ActiveMask))
            refuse(i, "which depends on how lanes run together");
        frame.next++;
        if (i.is(Opcode::Phi))
            return;
        if (!is_own_operation(i))
            refuse(i);
        std::vector<std::uint64_t> results(i.results.size());
        execute(i, r.thread, frame.depth, frame_bytes(*frame.function), read_all(frame, i),
                results);
        set(frame, i, results);
        if (i.is(Opcode::Alloca))
            frame.taken = std::max(frame.taken, results[1]);
    }

    static std::uint64_t frame_bytes(const ir::Function &function) {
        return (std::uint64_t{function.local_bytes} + 15) / 16 * 16;
    }

    static void set(Frame &frame, const Instruction &i, std::span<const std::uint64_t> results) {
        for (std::size_t n = 0; n < results.size(); ++n)
            frame.values[i.result(n)->id] = cut(results[n], i.result(n)->type);
    }

    void call(Running &r, const Instruction &i) {
        const ir::Function &callee = *module_.functions.at(i.attributes.symbol);
        const std::vector<std::uint64_t> arguments = read_all(r.frame(), i);
        const Frame &caller = r.frame();
        enter(
            r, callee,
            std::max(caller.depth + frame_bytes(*caller.function), (caller.taken + 15) / 16 * 16));
        for (std::size_t n = 0; n < arguments.size() && n < callee.arguments.size(); ++n)
            r.frame().values[callee.arguments[n]->id] = arguments[n];
    }

    void leave(Running &r, const Instruction &end) {
        Frame &frame = r.frame();
        switch (end.opcode) {
        case Opcode::Exit:
            return end_thread(r);
        case Opcode::Return: {
            if (r.frames.size() == 1)
                return end_thread(r);
            const std::vector<std::uint64_t> results = read_all(frame, end);
            r.frames.pop_back();
            Frame &caller = r.frame();
            set(caller, *caller.block->instructions[caller.next], results);
            caller.next++;
            return;
        }
        case Opcode::Jump:
            return go_to(frame, end.blocks[0]);
        case Opcode::Branch:
            return go_to(frame, end.blocks[(read(frame, end.operand(0)) & 1) != 0 ? 0 : 1]);
        default: { // beyond the table: its last entry
            const std::uint64_t way = cut(read(frame, end.operand(0)), end.operand(0)->type);
            return go_to(frame, end.blocks[std::min<std::uint64_t>(way, end.blocks.size() - 1)]);
        }
        }
    }

    // All phis read before any of them is written.
    static void go_to(Frame &frame, const Block *to) {
        std::vector<std::pair<const Value *, std::uint64_t>> copies;
        for (const Instruction *i : to->instructions) {
            if (!i->is(Opcode::Phi))
                break;
            const auto from = std::ranges::find(i->blocks, frame.block) - i->blocks.begin();
            copies.emplace_back(i->result(),
                                read(frame, i->operand(static_cast<std::size_t>(from))));
        }
        for (const auto &[phi, value] : copies)
            frame.values[phi->id] = value;
        frame.block = to;
        frame.next = 0;
    }

    void end_thread(Running &r) {
        r.status = Status::Ended;
        const unsigned warp = r.thread.warp();
        live_[warp] &= ~(std::uint32_t{1} << r.thread.lane());
        barriers_.set_live(warp, live_[warp]);
    }

    // ---- barriers ---------------------------------------------------------------------------

    void arrive(Running &r, const Instruction &i) {
        Frame &frame = r.frame();
        const Value *threads = ir::barrier_threads(i);
        const auto number = static_cast<std::uint32_t>(read(frame, ir::barrier_number(i)));
        const std::uint32_t lane = std::uint32_t{1} << r.thread.lane();
        const bool votes = i.is(Opcode::BarrierReduce) && (read(frame, i.operand(0)) & 1) != 0;
        barriers_.arrive({.number = number,
                          .threads = threads ? static_cast<std::uint32_t>(read(frame, threads)) : 0,
                          .warp = r.thread.warp(),
                          .lanes = lane,
                          .voters = lane,
                          .votes = votes ? lane : 0});
        if (i.is(Opcode::BarrierArrive)) {
            frame.next++;
            return;
        }
        r.status = Status::AtBarrier;
        r.waits_at = &i;
        r.barrier = number;
    }

    void open(const Barriers::Passed &passed) {
        for (Running &r : threads_) {
            if (r.status != Status::AtBarrier || r.barrier != passed.number)
                continue;
            const Instruction &i = *r.waits_at;
            if (!i.results.empty()) {
                const std::uint64_t result = Barriers::result(i, passed);
                set(r.frame(), i, std::span(&result, 1));
            }
            r.frame().next++;
            r.status = Status::Ready;
        }
    }

    // ---- exchanges --------------------------------------------------------------------------

    Running *lane_of(unsigned warp, unsigned lane) {
        const std::size_t number = std::size_t{warp} * kLanes + lane;
        return number < threads_.size() ? &threads_[number] : nullptr;
    }

    static std::uint32_t members(Running &r) {
        const Value *named = ir::members_of(*r.waits_at);
        if (!named)
            refuse(*r.waits_at);
        return static_cast<std::uint32_t>(read(r.frame(), named));
    }

    /// Lets lanes meet whose members have all come. False if there are none.
    bool meet(unsigned warp) {
        bool met = false;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            Running *first = lane_of(warp, lane);
            if (!first || first->status != Status::AtExchange)
                continue;
            const std::uint32_t named = members(*first);
            const std::uint32_t group = (named & live_[warp]) | std::uint32_t{1} << lane;
            if (!have_come(warp, group, *first, named))
                continue;
            exchange_among(warp, group, *first->waits_at);
            met = true;
        }
        return met;
    }

    bool have_come(unsigned warp, std::uint32_t group, const Running &first, std::uint32_t named) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            if ((group >> lane & 1) == 0)
                continue;
            Running *other = lane_of(warp, lane);
            if (!other || other->status != Status::AtExchange || members(*other) != named ||
                !ir::are_same_exchange(*first.waits_at, *other->waits_at))
                return false;
        }
        return true;
    }

    void exchange_among(unsigned warp, std::uint32_t group, const Instruction &kind) {
        std::vector<LaneValues> operands(kind.operands.size(), LaneValues{});
        for (unsigned lane = 0; lane < kLanes; ++lane)
            if ((group >> lane & 1) != 0)
                for (std::size_t n = 0; n < operands.size(); ++n) {
                    Running &r = *lane_of(warp, lane);
                    operands[n][lane] = read(r.frame(), r.waits_at->operand(n));
                }
        const std::vector<LaneValues> made = exchange(kind, operands, group);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            if ((group >> lane & 1) == 0)
                continue;
            Running &r = *lane_of(warp, lane);
            std::vector<std::uint64_t> results;
            for (std::size_t n = 0; n < r.waits_at->results.size(); ++n)
                results.push_back(made.at(n)[lane]);
            set(r.frame(), *r.waits_at, results);
            r.frame().next++;
            r.status = Status::Ready;
        }
    }

    const ir::Module &module_;
    BlockMemory memory_;
    Barriers barriers_;
    std::vector<std::uint32_t> live_; ///< by warp
    std::deque<Running> threads_;
};

} // namespace

Outcome run_threads(const ir::Module &module, const ir::Function &kernel, Launch &launch) {
    try {
        std::vector<std::unique_ptr<BlockOfThreads>> blocks;
        for (std::uint64_t index = 0; index < launch.blocks(); ++index)
            blocks.push_back(std::make_unique<BlockOfThreads>(module, kernel, launch, index));
        std::uint64_t left = kMostInstructions;
        while (!blocks.empty()) {
            bool ran = false;
            for (const auto &block : blocks)
                ran |= block->take_turns(left);
            if (!ran)
                throw Stopped(Stop::Faulted, "all threads wait for each other");
            std::erase_if(blocks, [](const auto &block) { return block->ended(); });
        }
    } catch (const Stopped &stopped) {
        return Outcome::of(stopped);
    }
    return {};
}

} // namespace softcuda::interpret
