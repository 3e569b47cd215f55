// elementwise_harness.cpp -- builds, runs and compares; see elementwise_harness.h.
#include "elementwise_harness.h"

#include "check.h"

#include "compiler/pipeline.h"
#include "ir/ir.h"
#include "ir/operation_semantics.h"
#include "jit/code.h"
#include "jit/llvm.h"
#include "jit/optimize.h"
#include "jit/target.h"
#include "vector_math/elementwise.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>

namespace test {

using namespace softcuda;

namespace {

constexpr unsigned kGroup = 32; ///< the largest vector: the number of inputs is a multiple of it
constexpr std::size_t kHard = 3000; ///< maximum number of combinations of hard values
constexpr std::size_t kRandom = 2048;

std::mt19937_64 &generator() {
    static std::mt19937_64 state(12345);
    return state;
}

std::string name_of(const Case &c) {
    const Attributes &a = c.attributes;
    std::string name(ir::info(c.opcode).name);
    const auto add = [&](std::string_view word) { name.append(".").append(word); };
    add(ir::text(a.type));
    if (a.source_type != Scalar::None)
        add(ir::text(a.source_type));
    if (a.rounding != ir::Rounding::None)
        add(ir::text(a.rounding));
    if (a.precision != ir::Precision::Exact)
        add(ir::text(a.precision));
    if (c.opcode == Opcode::Compare)
        add(ir::text(a.compare));
    if (c.opcode == Opcode::Testp)
        add(ir::text(a.test));
    if (c.opcode == Opcode::Prmt)
        add(ir::text(a.prmt));
    const std::pair<bool, const char *> flags[] = {
        {a.ftz, "ftz"},   {a.saturate, "sat"}, {a.nan, "nan"},   {a.xorsign_abs, "xorsign_abs"},
        {a.relu, "relu"}, {a.high, "hi"},      {a.wrap, "wrap"}, {a.shift_amount, "shiftamt"}};
    for (const auto &[set, word] : flags)
        if (set)
            add(word);
    for (const auto &[operand, bits] : c.constants)
        name += " operand " + std::to_string(operand) + " constant";
    if (c.uniform >= 0)
        name += " operand " + std::to_string(c.uniform) + " uniform";
    return name;
}

/// Bytes of one value in memory; a predicate takes one.
unsigned bytes(Type type) { return std::max(1u, ir::bits(type) / 8); }

// Build.

llvm::Type *lane_type(llvm::LLVMContext &context, Type type) {
    if (type == Type::F32)
        return llvm::Type::getFloatTy(context);
    if (type == Type::F64)
        return llvm::Type::getDoubleTy(context);
    return llvm::IntegerType::get(context, ir::bits(type));
}

llvm::Type *shaped(llvm::Type *type, unsigned lanes) {
    return lanes == 1 ? type : llvm::FixedVectorType::get(type, lanes);
}

llvm::Value *constant(llvm::LLVMContext &context, Type type, unsigned lanes, Bits bits) {
    llvm::Type *raw = shaped(llvm::IntegerType::get(context, ir::bits(type)), lanes);
    return llvm::ConstantExpr::getBitCast(llvm::ConstantInt::get(raw, bits),
                                          shaped(lane_type(context, type), lanes));
}

struct Builder {
    llvm::Module &module;
    const jit::Target &target;
    llvm::IRBuilder<> ir{module.getContext()};

    llvm::Value *load(const Case &c, unsigned i, unsigned lanes, llvm::Value *pointers) {
        llvm::LLVMContext &context = module.getContext();
        const Type type = c.operands[i];
        if (const auto known = c.constants.find(i); known != c.constants.end())
            return constant(context, type, lanes, known->second);
        llvm::Value *at =
            ir.CreateLoad(ir.getPtrTy(), ir.CreateConstGEP1_32(ir.getPtrTy(), pointers, i));
        const bool predicate = type == Type::I1, splat = c.uniform == static_cast<int>(i);
        llvm::Type *element = predicate ? ir.getInt8Ty() : lane_type(context, type);
        llvm::Type *memory = shaped(element, splat ? 1 : lanes);
        llvm::Value *value = ir.CreateAlignedLoad(memory, at, llvm::Align(1));
        if (predicate)
            value = ir.CreateTrunc(value, shaped(ir.getInt1Ty(), splat ? 1 : lanes));
        return splat && lanes > 1 ? ir.CreateVectorSplat(lanes, value) : value;
    }

    void store(llvm::Value *value, unsigned i, llvm::Value *pointers) {
        llvm::Value *at =
            ir.CreateLoad(ir.getPtrTy(), ir.CreateConstGEP1_32(ir.getPtrTy(), pointers, i));
        if (value->getType()->getScalarSizeInBits() == 1)
            value = ir.CreateZExt(value, value->getType()->getWithNewBitWidth(8));
        ir.CreateAlignedStore(value, at, llvm::Align(1));
    }

    /// Builds void name(const char *const *inputs, char *const *outputs).
    void build(const Case &c, unsigned lanes, const std::string &name) {
        auto *type = llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), ir.getPtrTy()}, false);
        auto *function =
            llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
        target.apply(*function);
        ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));

        ir::Function holder;
        std::vector<ir::Value *> arguments;
        std::vector<llvm::Value *> operands;
        for (unsigned i = 0; i < c.operands.size(); ++i) {
            arguments.push_back(holder.argument(c.operands[i]));
            operands.push_back(load(c, i, lanes, function->getArg(0)));
        }
        ir::Instruction *instruction = holder.create(c.opcode, arguments, c.results);
        instruction->attributes = c.attributes;
        std::vector<llvm::Value *> results;
        vector_math::emit_elementwise(ir, target, *instruction, operands, {}, results);
        for (unsigned i = 0; i < results.size(); ++i) {
            CHECK(results[i]->getType() ==
                  shaped(lane_type(module.getContext(), c.results[i]), lanes));
            store(results[i], i, function->getArg(1));
        }
        ir.CreateRetVoid();
    }
};

// Inputs.

Scalar kind_of(const Case &c, std::size_t i) {
    static constexpr Scalar by_class[] = {Scalar::Pred, Scalar::U8,   Scalar::U16, Scalar::U32,
                                          Scalar::U64,  Scalar::B128, Scalar::F32, Scalar::F64};
    return i < c.kinds.size() && c.kinds[i] != Scalar::None
               ? c.kinds[i]
               : by_class[static_cast<std::size_t>(c.operands[i])];
}

/// The inputs of all threads: one array of bits for each operand.
struct Threads {
    std::vector<std::vector<Bits>> operands;
    std::size_t count = 0;

    std::vector<Bits> thread(std::size_t i) const {
        std::vector<Bits> row;
        for (const std::vector<Bits> &operand : operands)
            row.push_back(operand[i]);
        return row;
    }
};

Threads make_threads(const Case &c) {
    Threads threads;
    const std::size_t operands = c.operands.size();
    std::vector<std::vector<Bits>> hard(operands);
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < operands; ++i) {
        hard[i] = hard_values(kind_of(c, i));
        combinations *= hard[i].size();
    }
    const std::size_t taken = std::min(combinations, kHard);
    threads.count = (taken + kRandom + kGroup - 1) / kGroup * kGroup;
    threads.operands.assign(operands, std::vector<Bits>(threads.count));
    for (std::size_t t = 0; t < threads.count; ++t) {
        std::size_t pick = taken == combinations ? t : generator()() % combinations;
        for (std::size_t i = 0; i < operands; ++i) {
            threads.operands[i][t] =
                t < taken ? hard[i][pick % hard[i].size()] : random_value(kind_of(c, i));
            pick /= hard[i].size();
        }
    }
    for (const auto &[operand, bits] : c.constants)
        threads.operands[operand].assign(threads.count, bits);
    if (c.uniform >= 0)
        for (std::size_t t = 0; t < threads.count; ++t) {
            std::vector<Bits> &values = threads.operands[static_cast<std::size_t>(c.uniform)];
            values[t] = values[t / kGroup * kGroup];
        }
    return threads;
}

std::vector<char> to_memory(const std::vector<Bits> &values, Type type) {
    std::vector<char> memory(values.size() * bytes(type));
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(&memory[i * bytes(type)], &values[i], bytes(type));
    return memory;
}

// Run.

bool both_nan(Type type, Bits a, Bits b) {
    if (type == Type::F32)
        return std::isnan(as_float(a)) && std::isnan(as_float(b));
    return type == Type::F64 && std::isnan(as_double(a)) && std::isnan(as_double(b));
}

struct Prepared {
    const Case &c;
    Threads threads;
    std::vector<std::vector<Bits>> wanted; ///< by result
    std::vector<std::vector<char>> inputs; ///< in the layout that generated code reads
};

Prepared prepare(const Case &c) {
    Prepared prepared{c, make_threads(c), {}, {}};
    const std::size_t count = prepared.threads.count;
    prepared.wanted.assign(c.results.size(), std::vector<Bits>(count));
    for (std::size_t t = 0; t < count; ++t) {
        Bits out[8] = {};
        c.reference(prepared.threads.thread(t), out);
        for (std::size_t i = 0; i < c.results.size(); ++i)
            prepared.wanted[i][t] = out[i];
    }
    for (std::size_t i = 0; i < c.operands.size(); ++i)
        prepared.inputs.push_back(to_memory(prepared.threads.operands[i], c.operands[i]));
    return prepared;
}

using Kernel = void (*)(const char *const *, char *const *);

void compare(const Prepared &p, std::size_t result, const std::vector<char> &memory,
             const std::string &where) {
    const Type type = p.c.results[result];
    unsigned shown = 0;
    for (std::size_t t = 0; t < p.threads.count; ++t) {
        Bits got = 0;
        std::memcpy(&got, &memory[t * bytes(type)], bytes(type));
        const Bits wanted = p.wanted[result][t];
        const std::vector<Bits> inputs = p.threads.thread(t);
        if (got == wanted || both_nan(type, got, wanted) ||
            (p.c.accept && p.c.accept(inputs, got, wanted)))
            continue;
        ++failures;
        if (++shown > 4)
            continue;
        std::printf("%s (%s):", name_of(p.c).c_str(), where.c_str());
        for (const Bits input : inputs)
            std::printf(" %llx", static_cast<unsigned long long>(input));
        std::printf(" -> %llx, wanted %llx\n", static_cast<unsigned long long>(got),
                    static_cast<unsigned long long>(wanted));
    }
}

/// Compares the table of semantics with the reference. False if the operation is not in the table.
bool check_table(const Prepared &p) {
    ir::Function holder;
    std::vector<ir::Value *> arguments;
    for (const Type type : p.c.operands)
        arguments.push_back(holder.argument(type));
    ir::Instruction *instruction = holder.create(p.c.opcode, arguments, p.c.results);
    instruction->attributes = p.c.attributes;
    std::vector<std::vector<Bits>> made(p.c.results.size(), std::vector<Bits>(p.threads.count));
    std::vector<Bits> out(p.c.results.size());
    for (std::size_t t = 0; t < p.threads.count; ++t) {
        if (!ir::compute(*instruction, p.threads.thread(t), out))
            return false;
        for (std::size_t i = 0; i < out.size(); ++i)
            made[i][t] = out[i];
    }
    for (std::size_t i = 0; i < made.size(); ++i)
        compare(p, i, to_memory(made[i], p.c.results[i]), "table of semantics");
    return true;
}

void run_one(const Prepared &p, Kernel kernel, unsigned lanes, const std::string &where) {
    std::vector<std::vector<char>> outputs;
    for (const Type type : p.c.results)
        outputs.emplace_back(p.threads.count * bytes(type));
    std::vector<const char *> in(p.inputs.size());
    std::vector<char *> out(outputs.size());
    for (std::size_t t = 0; t < p.threads.count; t += lanes) {
        for (std::size_t i = 0; i < in.size(); ++i)
            in[i] = &p.inputs[i][t * bytes(p.c.operands[i])];
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = &outputs[i][t * bytes(p.c.results[i])];
        kernel(in.data(), out.data());
    }
    for (std::size_t i = 0; i < out.size(); ++i)
        compare(p, i, outputs[i], where);
}

void run_all(const std::vector<Prepared> &cases, const jit::Target &target, unsigned lanes,
             const std::string &where) {
    llvm::LLVMContext context;
    llvm::Module module("elementwise", context);
    target.apply(module);
    Builder builder{module, target};
    for (std::size_t i = 0; i < cases.size(); ++i)
        builder.build(cases[i].c, lanes, "f" + std::to_string(i));
    jit::require_valid(module, "from the test");
    jit::optimize(module, target, softcuda::compiler::llvm_passes(module));
    const jit::Code code(jit::emit_object(module, target), {});
    for (std::size_t i = 0; i < cases.size(); ++i)
        run_one(cases[i], code.find_as<Kernel>("f" + std::to_string(i)), lanes, where);
}

} // namespace

void run(const std::vector<Case> &cases) {
    std::vector<Prepared> prepared;
    for (const Case &c : cases)
        prepared.push_back(prepare(c));
    for (const target::Level &level : target::levels()) {
        const std::string name(level.name);
        try {
            const jit::Target target(name);
            for (const unsigned lanes : {1u, 2u, 16u, 32u})
                if (lanes != 16 || name == "native")
                    run_all(prepared, target, lanes,
                            name + ", " + std::to_string(lanes) + " lanes");
        } catch (const std::runtime_error &error) {
            std::printf("skipped %s: %s\n", name.c_str(), error.what());
            CHECK(std::strstr(error.what(), "this processor") != nullptr);
        }
    }
    const auto in_table = std::ranges::count_if(prepared, check_table);
    std::printf("%zu forms, %zd of them in the table of semantics\n", cases.size(), in_table);
}

// Values.

float as_float(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double as_double(Bits bits) { return std::bit_cast<double>(bits); }
Bits bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
Bits bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

namespace {

std::vector<Bits> hard_floats(int exponent_bits, int mantissa_bits) {
    const Bits one = Bits{1} << mantissa_bits, bias = (Bits{1} << (exponent_bits - 1)) - 1;
    const Bits infinity = ((Bits{1} << exponent_bits) - 1) << mantissa_bits;
    const Bits unit = bias << mantissa_bits; // 1.0
    std::vector<Bits> values = {0,
                                1,
                                2,
                                one - 1,
                                one,
                                one + 1,
                                unit,
                                unit + 1,
                                unit - 1,
                                unit + one / 2,
                                unit + one,
                                unit - one,
                                unit + 3 * one,
                                unit + 3 * one + one / 3,
                                infinity - 1,
                                infinity - one,
                                infinity,
                                infinity + 1,
                                infinity + one / 2};
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(values[i] | Bits{1} << (exponent_bits + mantissa_bits));
    return values;
}

std::vector<Bits> hard_integers(unsigned bits) {
    const Bits all = ~Bits{0} >> (64 - bits), top = Bits{1} << (bits - 1);
    std::vector<Bits> values = {0,   1,       2,       3,        7,          8,
                                31,  32,      33,      all,      all - 1,    all - 7,
                                top, top - 1, top + 1, top >> 1, 0x5a & all, 0xff & all};
    if (bits > 16)
        for (const Bits value :
             {0xffffu, 0x10000u, 0x7fffu, 0x8000u, 0xaaaaaaaau, 1000003u, 0x1000001u})
            values.push_back(value);
    if (bits > 32)
        for (const Bits value :
             {Bits{0xffffffff}, Bits{0x100000000}, Bits{0x80000000}, Bits{0x7fffffff},
              Bits{0x123456789abcdef0}, (Bits{1} << 53) + 1, Bits{63}, Bits{64}})
            values.push_back(value);
    return values;
}

} // namespace

std::vector<Bits> hard_values(Scalar kind) {
    switch (kind) {
    case Scalar::Pred:
        return {0, 1};
    case Scalar::F64: {
        std::vector<Bits> values = hard_floats(11, 52);
        for (const double value : {0.5, 2.5, -3.5, 2147483647.0, 2147483648.0, -2147483649.0,
                                   4294967296.0, 9223372036854775808.0, -9223372036854775808.0,
                                   18446744073709551616.0, 65519.99, 65520.0, 0x1p-25, 0x1p-149,
                                   0x1.8p-150, 0x1.fffffefp127, 0x1.000001p0, 1e300, 0x1p-1000})
            values.push_back(bits_of(value));
        return values;
    }
    case Scalar::F32: {
        std::vector<Bits> values = hard_floats(8, 23);
        for (const float value : {0.5f, 2.5f, -3.5f, 255.5f, 2147483648.0f, -2147483648.0f,
                                  4294967296.0f, 0x1p63f, 0x1p64f, 65519.9f, 65520.0f, 0x1p-25f,
                                  0x1.8p-25f, 0x1.002p0f, 0x1.006p0f, 0x1p-100f, 88.5f})
            values.push_back(bits_of(value));
        return values;
    }
    case Scalar::F16:
        return hard_floats(5, 10);
    case Scalar::BF16:
        return hard_floats(8, 7);
    case Scalar::F16x2:
    case Scalar::BF16x2: {
        std::vector<Bits> values = hard_values(kind == Scalar::F16x2 ? Scalar::F16 : Scalar::BF16);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] |= (values[(i * 7 + 3) % values.size()] & 0xffff) << 16;
        return values;
    }
    default:
        return hard_integers(std::min(64u, softcuda::ir::bits(kind)));
    }
}

Bits random_value(Scalar kind) {
    std::mt19937_64 &random = generator();
    const Bits raw = random();
    const unsigned width = std::min(64u, softcuda::ir::bits(kind));
    const Bits mask = ~Bits{0} >> (64 - width);
    // For floats: half of them near one, where sums and rounding are interesting.
    if (kind == Scalar::F32 && raw >> 63)
        return bits_of(
            std::ldexp(static_cast<float>(random()) - 0x1p63f, static_cast<int>(raw % 20) - 70));
    if (kind == Scalar::F64 && raw >> 63)
        return bits_of(
            std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(raw % 40) - 80));
    // For integers: some small ones.
    if (!softcuda::ir::is_floating(kind) && raw >> 62 == 0)
        return random() >> (random() % 64) & mask;
    return random() & mask;
}

bool is_nan(Bits bits, Scalar format) {
    switch (format) {
    case Scalar::F16:
        return (bits & 0x7fff) > 0x7c00;
    case Scalar::BF16:
        return (bits & 0x7fff) > 0x7f80;
    case Scalar::F64:
        return std::isnan(as_double(bits));
    default:
        return std::isnan(as_float(bits));
    }
}

double value_of(const Format &format, Bits bits) {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const Bits mantissa = bits & ((Bits{1} << format.mantissa_bits) - 1);
    const int exponent =
        static_cast<int>(bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
    const double sign = bits >> (format.bits - 1) & 1 ? -1 : 1;
    if (exponent == (1 << format.exponent_bits) - 1)
        return mantissa ? NAN : sign * INFINITY;
    const double fraction = std::ldexp(static_cast<double>(mantissa), -format.mantissa_bits);
    return sign *
           (exponent ? std::ldexp(1 + fraction, exponent - bias) : std::ldexp(fraction, 1 - bias));
}

Bits round_to(const Format &format, double value, int mode) {
    if (std::isnan(value))
        return format.nan;
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    const Bits sign = std::signbit(value) ? Bits{1} << (format.bits - 1) : 0;
    const bool e4m3 = format.mantissa_bits == 3;
    const Bits infinity = ((Bits{1} << format.exponent_bits) - 1) << format.mantissa_bits;
    const Bits largest = e4m3 ? 0x7e : infinity - 1;
    const Bits overflow = format.saturates ? largest : infinity;
    const double size = std::fabs(value);
    if (std::isinf(size))
        return sign | overflow;
    // In units in the last place.
    const int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
    const double units = std::ldexp(size, format.mantissa_bits - exponent);
    double whole = std::floor(units);
    const double rest = units - whole;
    const bool up = mode == FE_UPWARD ? !sign : mode == FE_DOWNWARD ? sign != 0 : false;
    if (mode == FE_TONEAREST ? rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)
                             : up && rest > 0)
        whole += 1;
    // A carry of the units increments the exponent.
    const Bits base = static_cast<Bits>(exponent + bias - 1) << format.mantissa_bits;
    const double total = static_cast<double>(base) + whole;
    if (total > static_cast<double>(largest)) {
        const bool stays = mode == FE_TOWARDZERO || (mode != FE_TONEAREST && !up);
        return sign | (stays ? largest : overflow);
    }
    return sign | static_cast<Bits>(total);
}

} // namespace test
