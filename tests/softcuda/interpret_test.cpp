// interpret_test.cpp -- tests that the interpreter of the warp program finds errors in plans.
#include "spoil_plan.h"

#include "interpret/run_warps.h"

#include <cstring>
#include <string>

namespace {

using namespace softcuda;
using ir::Opcode;
using warp::KernelPlan;

constexpr std::uint64_t kBuffer = 0x10000;
constexpr std::uint32_t kThreads = 64, kFew = 20;

// Each thread updates one element: the threads below the parameter multiply it by three, and all
// threads add the parameter.
constexpr const char *kKernel = R"(kernel k {
  .parameters 0:8:8 8:4:4 bytes 12
entry:
  %0 = special.tid.x
  %1 = load_param.u64 [0]
  %2 = load_param.u32 [8]
  %3 = cmp.lt.u32 %0, %2
  %4 = mul_wide.u32 %0, i32 4
  %5 = add.u64 %1, %4
  %6 = load.global.u32 [%5]
  branch %3, few, join
few:
  %7 = mul.u32 %6, i32 3
  jump join
join:
  %8:i32 = phi [%6, entry], [%7, few]
  barrier i32 0
  jump after
after:
  %9 = add.u32 %8, %2
  store.global.u32 [%5], %9
  exit
}
)";

std::vector<std::byte> numbers() {
    std::vector<std::byte> bytes(kThreads * 4);
    for (std::uint32_t t = 0; t < kThreads; ++t)
        std::memcpy(&bytes[std::size_t{t} * 4], &t, 4);
    return bytes;
}

std::vector<std::string> run(const KernelPlan &plan) {
    interpret::Launch launch{.block = {kThreads, 1, 1},
                             .parameters = std::vector<std::byte>(12),
                             .symbols = {},
                             .workspace = 0,
                             .memory = {}};
    std::memcpy(launch.parameters.data(), &kBuffer, 8);
    std::memcpy(launch.parameters.data() + 8, &kFew, 4);
    launch.memory.add(kBuffer, numbers());
    const interpret::Outcome outcome =
        interpret::run_warps({.kernel = &plan, .functions = {}}, launch);
    if (outcome.kind != interpret::Outcome::Kind::Ran)
        return {outcome.what};
    for (std::uint32_t t = 0; t < kThreads; ++t) {
        std::uint32_t found = 0;
        std::memcpy(&found, &launch.memory.ranges().at(kBuffer)[std::size_t{t} * 4], 4);
        const std::uint32_t wanted = (t < kFew ? 3 * t : t) + kFew;
        if (found != wanted)
            return {"thread " + std::to_string(t) + " leaves another number"};
    }
    return {};
}

const ir::Instruction &the(const KernelPlan &plan, Opcode opcode) {
    for (const ir::Block *block : plan.function.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (i->is(opcode))
                return *i;
    std::abort();
}

std::uint32_t id(const KernelPlan &plan, Opcode opcode) { return the(plan, opcode).result()->id; }

warp::BlockFlow &flow(KernelPlan &plan, const std::string &name) {
    for (const ir::Block *block : plan.function.blocks)
        if (block->name == name)
            return plan.masks.blocks[block->id];
    std::abort();
}

bool finds(const char *what, const test::Spoil &spoil) {
    const std::string found = test::wrong_after(kKernel, {.block = {kThreads, 1, 1}}, run, spoil);
    return test::finds(what, found);
}

const analysis::Shape kUniform{.groups = 1};

} // namespace

int main() {
    CHECK(
        test::wrong_after(kKernel, {.block = {kThreads, 1, 1}}, run, [](KernelPlan &) {}).empty());
    CHECK(finds("by its shape: uniform", [](KernelPlan &plan) {
        plan.divergence.shapes[id(plan, Opcode::Load)] = kUniform;
    }));
    CHECK(finds("outside of its range 0 .. 30",
                [](KernelPlan &plan) { plan.ranges[id(plan, Opcode::Mul)] = {0, 30}; }));
    CHECK(finds("is not what is known of lane 20", [](KernelPlan &plan) {
        plan.masks.known[the(plan, Opcode::Compare).result()] = {0x1fffff, 0};
    }));
    CHECK(finds("lanes part at a branch",
                [](KernelPlan &plan) { flow(plan, "entry").parts = false; }));
    CHECK(finds("thread 20 leaves another number", [](KernelPlan &plan) {
        flow(plan, "few").edges[0].joins[0].write = warp::Join::Write::Set;
    }));
    CHECK(finds("which was not kept", [](KernelPlan &plan) { plan.regions[1].fetches.clear(); }));
    CHECK(finds("differs between its warps", [](KernelPlan &plan) {
        for (warp::Fetch &fetch : plan.regions[1].fetches)
            fetch.from = warp::Fetch::From::Block;
    }));
    CHECK(finds("thread 32 leaves another number",
                [](KernelPlan &plan) { plan.regions[1].active_warps = 1; }));
    CHECK(finds("accesses 65540, not 65536 of the shape", [](KernelPlan &plan) {
        plan.accesses.at(&the(plan, Opcode::Load)).shape = kUniform;
    }));
    CHECK(finds("is not where its index has it", [](KernelPlan &plan) {
        warp::AccessPlan &made = plan.accesses.at(&the(plan, Opcode::Store));
        made.indexed = {.pointer = the(plan, Opcode::LoadParam).result(),
                        .index = the(plan, Opcode::Special).result(),
                        .scale = 8};
    }));
    return test::status();
}
