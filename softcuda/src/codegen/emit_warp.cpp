// emit_warp.cpp -- exchanges between the lanes of a warp: shuffles, votes, matches, reductions.
//
// A warp is one vector, so an exchange between lanes is a permutation of it, without waiting.

#include "codegen/warp_families.h"

#include "jit/target.h"
#include "target/code/instructions.h"

#include <optional>

namespace softcuda::codegen {

namespace {

struct ShuffleSources {
    llvm::Value *lane;  ///< <32 x i32>: the lane that each lane reads
    llvm::Value *valid; ///< <32 x i1>: false if it reads itself instead
};

llvm::Constant *lane_numbers(WarpEmitter &w) {
    llvm::SmallVector<llvm::Constant *, kLanes> lanes;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        lanes.push_back(w.i32(lane));
    return llvm::ConstantVector::get(lanes);
}

// PTX ISA, shfl.sync: c holds the clamp value in bits 4..0 and the segment mask in bits 12..8.
ShuffleSources shuffle_sources(WarpEmitter &w, ir::ShuffleMode mode, llvm::Value *distance,
                               llvm::Value *control) {
    auto &b = w.b;
    auto number = [&](std::uint32_t n) { return b.CreateVectorSplat(kLanes, w.i32(n)); };
    llvm::Value *lane = lane_numbers(w);
    llvm::Value *d = b.CreateAnd(distance, number(31));
    llvm::Value *clamp = b.CreateAnd(control, number(31));
    llvm::Value *segment = b.CreateAnd(b.CreateLShr(control, number(8)), number(31));
    llvm::Value *low = b.CreateAnd(lane, segment);
    llvm::Value *high = b.CreateOr(low, b.CreateAnd(clamp, b.CreateNot(segment)));
    llvm::Value *source, *valid;
    switch (mode) {
    case ir::ShuffleMode::Up:
        source = b.CreateSub(lane, d);
        valid = b.CreateICmpSGE(source, high);
        break;
    case ir::ShuffleMode::Down:
        source = b.CreateAdd(lane, d);
        valid = b.CreateICmpSLE(source, high);
        break;
    case ir::ShuffleMode::Butterfly:
        source = b.CreateXor(lane, d);
        valid = b.CreateICmpSLE(source, high);
        break;
    default:
        source = b.CreateOr(low, b.CreateAnd(d, b.CreateNot(segment)));
        valid = b.CreateICmpSLE(source, high);
    }
    return {b.CreateSelect(valid, source, lane), valid};
}

std::optional<llvm::SmallVector<int, kLanes>> known_lanes(llvm::Value *lanes) {
    auto *constant = llvm::dyn_cast<llvm::Constant>(lanes);
    if (!constant)
        return std::nullopt;
    llvm::SmallVector<int, kLanes> numbers;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        auto *number =
            llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
        if (!number)
            return std::nullopt;
        numbers.push_back(static_cast<int>(number->getZExtValue()));
    }
    return numbers;
}

// Some processors read any lane of two registers with 16 lanes; others go through memory.
llvm::Value *permute(WarpEmitter &w, llvm::Value *value, llvm::Value *source) {
    auto &b = w.b;
    if (auto lanes = known_lanes(source))
        return b.CreateShuffleVector(value, *lanes);
    llvm::Type *type = value->getType();
    llvm::Type *words = with_lanes(b.getInt32Ty(), kLanes);
    if (w.kernel.code.target.facts().permutes_two) {
        value = b.CreateBitCast(value, words);
        auto half = [&](llvm::Value *v, unsigned first) {
            llvm::SmallVector<int, 16> lanes;
            for (unsigned lane = 0; lane < 16; ++lane)
                lanes.push_back(static_cast<int>(first + lane));
            return b.CreateShuffleVector(v, lanes);
        };
        llvm::Value *low = half(value, 0), *high = half(value, 16);
        llvm::SmallVector<int, kLanes> all;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            all.push_back(static_cast<int>(lane));
        llvm::Value *first = target::permute_two(b, low, high, half(source, 0));
        llvm::Value *second = target::permute_two(b, low, high, half(source, 16));
        return b.CreateBitCast(b.CreateShuffleVector(first, second, all), type);
    }
    llvm::Value *array = w.spill(value);
    llvm::Value *pointers = b.CreateGEP(type->getScalarType(), array, source);
    return b.CreateMaskedGather(type, pointers, llvm::Align(4));
}

// Runs `body` for every active lane with its members and stores the result.
llvm::Value *
for_members(WarpEmitter &w, llvm::Value *members, llvm::Type *type,
            const std::function<llvm::Value *(llvm::Value *lane, llvm::Value *bits)> &body) {
    llvm::Value *results = w.spill(llvm::Constant::getNullValue(with_lanes(type, kLanes)));
    llvm::Value *array = w.spill(members);
    llvm::Value *active = w.mask_bits();
    w.for_each_lane(active, [&](llvm::Value *lane) {
        llvm::Value *bits =
            w.b.CreateLoad(w.b.getInt32Ty(), w.b.CreateGEP(w.b.getInt32Ty(), array, lane));
        llvm::Value *made = body(lane, w.b.CreateAnd(bits, active));
        w.b.CreateStore(made, w.b.CreateGEP(type, results, lane));
    });
    return w.b.CreateLoad(with_lanes(type, kLanes), results);
}

llvm::Value *reduce(WarpEmitter &w, const ir::Instruction &i, llvm::Value *all,
                    llvm::Value *lanes) {
    auto &b = w.b;
    llvm::Type *type = all->getType();
    bool with_sign = ir::is_signed(i.attributes.type);
    auto masked = [&](std::uint32_t neutral) {
        return b.CreateSelect(lanes, all, llvm::ConstantInt::get(type, neutral));
    };
    switch (i.attributes.atomic) {
    case ir::AtomicOp::Add:
        return b.CreateAddReduce(masked(0));
    case ir::AtomicOp::And:
        return b.CreateAndReduce(masked(0xffffffff));
    case ir::AtomicOp::Or:
        return b.CreateOrReduce(masked(0));
    case ir::AtomicOp::Xor:
        return b.CreateXorReduce(masked(0));
    case ir::AtomicOp::Min:
        return b.CreateIntMinReduce(masked(with_sign ? 0x7fffffff : 0xffffffff), with_sign);
    case ir::AtomicOp::Max:
        return b.CreateIntMaxReduce(masked(with_sign ? 0x80000000 : 0), with_sign);
    default:
        throw Unsupported("this redux operation is not supported", i);
    }
}

} // namespace

void emit_shuffle(WarpEmitter &w, const ir::Instruction &i) {
    const ir::Value *result = i.result(0);
    llvm::Value *value = w.full(i.operand(0));
    if (w.shape(result).uniform()) { // all lanes read one lane
        llvm::Value *lane = w.b.CreateAnd(w.scalar(i.operand(1)), w.i32(31));
        w.define(result, w.b.CreateExtractElement(value, lane));
        if (i.results.size() > 1)
            w.define(i.result(1), llvm::Constant::getAllOnesValue(
                                      w.type(ir::Type::I1, w.shape(i.result(1)).groups)));
        return;
    }
    ShuffleSources sources =
        shuffle_sources(w, i.attributes.shuffle, w.full(i.operand(1)), w.full(i.operand(2)));
    w.define_full(result, permute(w, value, sources.lane));
    if (i.results.size() > 1)
        w.define_full(i.result(1), sources.valid);
}

llvm::Value *shuffle_source(WarpEmitter &w, const ir::Instruction &i) {
    return shuffle_sources(w, i.attributes.shuffle, w.full(i.operand(1)), w.full(i.operand(2)))
        .lane;
}

void emit_vote(WarpEmitter &w, const ir::Instruction &i) {
    auto &b = w.b;
    const ir::Value *result = i.result();
    unsigned groups = w.shape(result).groups;
    llvm::Value *members = w.firsts(i.operand(1), groups);
    auto everywhere = [&](llvm::Value *bits) { return repeat(b, bits, 1, groups); };
    llvm::Value *active = w.mask_bits();
    llvm::Value *yes = b.CreateAnd(w.bits_of(w.full(i.operand(0))), active);
    llvm::Value *voters = b.CreateAnd(everywhere(active), members);
    llvm::Value *ayes = b.CreateAnd(everywhere(yes), members);
    llvm::Value *none = llvm::Constant::getNullValue(ayes->getType());
    switch (i.attributes.vote) {
    case ir::VoteMode::Ballot:
        w.define(result, ayes);
        break;
    case ir::VoteMode::All:
        w.define(result, b.CreateICmpEQ(ayes, voters));
        break;
    case ir::VoteMode::Any:
        w.define(result, b.CreateICmpNE(ayes, none));
        break;
    case ir::VoteMode::Uniform:
        w.define(result, b.CreateOr(b.CreateICmpEQ(ayes, none), b.CreateICmpEQ(ayes, voters)));
        break;
    }
}

void emit_match(WarpEmitter &w, const ir::Instruction &i) {
    auto &b = w.b;
    llvm::Value *value = w.full(i.operand(0));
    llvm::Value *array = w.spill(value);
    llvm::Type *type = value->getType()->getScalarType();
    llvm::Value *same = for_members(
        w, w.full(i.operand(1)), b.getInt32Ty(), [&](llvm::Value *lane, llvm::Value *bits) {
            llvm::Value *mine = b.CreateLoad(type, b.CreateGEP(type, array, lane));
            llvm::Value *equal = b.CreateICmpEQ(value, b.CreateVectorSplat(kLanes, mine));
            return b.CreateAnd(w.bits_of(equal), bits);
        });
    if (i.attributes.match == ir::MatchMode::Any) {
        w.define_full(i.result(0), same);
        return;
    }
    llvm::Value *voters =
        b.CreateAnd(w.full(i.operand(1)), b.CreateVectorSplat(kLanes, w.mask_bits()));
    llvm::Value *all = b.CreateICmpEQ(same, voters);
    w.define_full(i.result(0),
                  b.CreateSelect(all, voters, llvm::Constant::getNullValue(voters->getType())));
    if (i.results.size() > 1)
        w.define_full(i.result(1), all);
}

void emit_active_mask(WarpEmitter &w, const ir::Instruction &i) {
    w.define(i.result(), w.mask_bits());
}

void emit_warp_reduce(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *all = w.full(i.operand(0));
    if (w.shape(i.operand(1)).uniform()) {
        llvm::Value *members = w.b.CreateAnd(w.scalar(i.operand(1)), w.mask_bits());
        llvm::Value *sum = reduce(w, i, all, w.mask_from_bits(members));
        w.define(i.result(), repeat(w.b, sum, 1, w.shape(i.result()).groups));
        return;
    }
    w.define_active(i.result(), for_members(w, w.full(i.operand(1)), w.b.getInt32Ty(),
                                            [&](llvm::Value *, llvm::Value *bits) {
                                                return reduce(w, i, all, w.mask_from_bits(bits));
                                            }));
}

void emit_elect(WarpEmitter &w, const ir::Instruction &i) {
    auto &b = w.b;
    llvm::Value *voters =
        b.CreateAnd(w.full(i.operand(0)), b.CreateVectorSplat(kLanes, w.mask_bits()));
    llvm::Value *leader = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, voters, b.getFalse());
    w.define_full(i.result(0), leader);
    w.define_full(i.result(1), b.CreateICmpEQ(leader, lane_numbers(w)));
}

} // namespace softcuda::codegen
