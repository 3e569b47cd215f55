// lower_symbol.cpp -- named things with an address: module variables, shared and local memory, the
// parameters of kernels and of calls.
#include "ir/lower_families.h"
#include "ir/lower_function.h"

#include <algorithm>
#include <numeric>

namespace softcuda::ir {

namespace {

constexpr std::uint64_t kMostLocal = 512 * 1024;

} // namespace

const ptx::Variable *FunctionLowering::variable(ptx::SymbolRef symbol) const {
    return module_.source().variable(source(), symbol);
}

Space FunctionLowering::space_of(ptx::SymbolRef symbol) const {
    const ptx::Variable *found = variable(symbol);
    return found ? space(found->space) : Space::Generic;
}

/// True for .param variables of calls, which have no address.
bool FunctionLowering::is_slot(ptx::SymbolRef symbol) const {
    switch (symbol.kind) {
    case ptx::SymbolKind::Parameter:
        return !in_kernel();
    case ptx::SymbolKind::Return:
        return true;
    case ptx::SymbolKind::Local:
        return space_of(symbol) == Space::Param;
    default:
        return false;
    }
}

Value *FunctionLowering::symbol_address(ptx::SymbolRef symbol, std::int64_t offset, Type type) {
    Attributes a;
    a.offset = offset;
    a.type = type == Type::I32 ? Scalar::B32 : Scalar::B64;
    if (symbol.kind == ptx::SymbolKind::Parameter && in_kernel()) {
        a.type = Scalar::None;
        a.offset += function_.parameters[symbol.index].offset;
        return in_entry(Opcode::ParamAddress, a);
    }
    if (symbol.kind == ptx::SymbolKind::Parameter && variable(symbol)->is_open()) {
        Value *base = builder_.resize(frame_->open_parameters.at(symbol.index), type, false);
        const Scalar as = type == Type::I64 ? Scalar::U64 : Scalar::U32;
        return offset ? emit(Opcode::Add, as,
                             {base, constant(type, static_cast<std::uint64_t>(offset))})
                      : base;
    }
    if (is_slot(symbol)) {
        a.space = Space::Local;
        a.symbol = slots(symbol).memory.value_or(0);
        return in_entry(Opcode::SymbolAddress, a);
    }
    const ptx::Function *owner = symbol.kind == ptx::SymbolKind::Local ? &source() : nullptr;
    a.space = space_of(symbol);
    if (a.space == Space::Shared) {
        a.symbol = shared_variable(owner, symbol.index);
    } else if (a.space == Space::Local) {
        const ptx::Variable &v = *variable(symbol);
        auto [found, is_new] = frame_->locals.try_emplace(symbol.index, 0);
        if (is_new)
            found->second = local_variable(std::string(v.name), v.bytes(), v.alignment);
        a.symbol = found->second;
    } else {
        a.type = Scalar::B64;
        a.symbol = module_.variable_index(owner, symbol.index);
    }
    return in_entry(Opcode::SymbolAddress, a);
}

Value *FunctionLowering::function_address(std::uint32_t index) {
    Attributes a;
    a.space = Space::Global;
    a.type = Scalar::B64;
    a.symbol = module_.functions_variable();
    a.offset = static_cast<std::int64_t>(module_.function_offset(index));
    return in_entry(Opcode::SymbolAddress, a);
}

std::uint32_t FunctionLowering::shared_variable(const ptx::Function *owner, std::uint32_t index) {
    auto [found, is_new] = shared_variables_.try_emplace({owner, index}, 0);
    if (!is_new)
        return found->second;
    found->second = static_cast<std::uint32_t>(function_.variables.size());
    const ptx::Variable &v = owner ? owner->variables[index] : module_.source().variables[index];
    LocalVariable made;
    made.name = v.name;
    made.space = Space::Shared;
    made.size = v.bytes();
    made.align = std::max<std::uint32_t>(v.alignment, 1);
    // With a size it has separate memory, also if it is .extern and not defined: ptxas
    // does the same, and taichi's kernels rely on that.
    if (made.size == 0) {
        made.align = std::max<std::uint32_t>(made.align, 16);
        dynamic_shared_.push_back(found->second);
        if (!top_.is_entry()) { // the kernel determines its start
            made.size = 0;
            module_.use_dynamic_shared(made.align);
        }
    } else if (made.size > kMostStaticShared) {
        module_.error(v.location, "'" + made.name +
                                      "' uses too much shared data: " + std::to_string(made.size) +
                                      " bytes, a block has " + std::to_string(kMostStaticShared));
        made.size = 1;
    } else if (top_.is_entry()) {
        shared_with_size_.push_back({{owner, index}, found->second});
    } else {
        made.offset = module_.common_shared().place({owner, index}, made.size, made.align);
    }
    function_.variables.push_back(std::move(made));
    return found->second;
}

void FunctionLowering::finish_shared() {
    function_.uses_dynamic_shared = !dynamic_shared_.empty();
    if (top_.is_entry())
        module_.place_later({top_, function_, shared_with_size_, dynamic_shared_});
}

std::uint32_t FunctionLowering::local_variable(std::string name, std::uint64_t size,
                                               std::uint32_t align) {
    align = std::max<std::uint32_t>(align, 1);
    std::uint64_t offset = aligned(function_.local_bytes, align);
    if (size > kMostLocal || offset + size > kMostLocal) {
        module_.error(top_.location, "'" + std::string(top_.name) + "' needs more than the " +
                                         std::to_string(kMostLocal) +
                                         " bytes of local memory that a thread has");
        size = 0;
    }
    function_.local_bytes = static_cast<std::uint32_t>(offset + size);
    function_.variables.push_back({std::move(name), Space::Local, offset, size, align});
    return static_cast<std::uint32_t>(function_.variables.size() - 1);
}

/// The offset that the register in `buffer[%r1]` adds to the address of the first element.
Value *FunctionLowering::subscript_bytes(const ptx::Operand &operand, Type type) {
    ptx::Operand index = operand;
    index.kind = ptx::OperandKind::Register;
    const ptx::ScalarType as = source().registers[operand.index].type;
    const bool is_signed = as == ptx::ScalarType::S32 || as == ptx::ScalarType::S64;
    Value *number = builder_.resize(read_register(index), type, is_signed);
    return emit(Opcode::Mul, type == Type::I64 ? Scalar::U64 : Scalar::U32,
                {number, constant(type, variable(operand.symbol)->element_bytes())});
}

Address FunctionLowering::address(const ptx::Operand &operand, Space in) {
    bool wide = in == Space::Generic || in == Space::Global || in == Space::Constant;
    if (operand.symbol) {
        Space home = is_slot(operand.symbol) ? Space::Local : space_of(operand.symbol);
        Value *base = symbol_address(operand.symbol, 0, wide ? Type::I64 : Type::I32);
        if (in == Space::Generic && (home == Space::Shared || home == Space::Local)) {
            Attributes a;
            a.space = home;
            base = emit(Opcode::ToGeneric, a, {base});
        }
        if (operand.has_register_subscript())
            base = emit(Opcode::Add, base->type == Type::I64 ? Scalar::U64 : Scalar::U32,
                        {base, subscript_bytes(operand, base->type)});
        return {base, operand.signed_integer()};
    }
    if (!operand.has_register_base()) {
        std::uint64_t bits = operand.integer;
        return {constant(wide || bits >> 32 ? Type::I64 : Type::I32, bits), 0};
    }
    ptx::Operand base = operand;
    base.kind = ptx::OperandKind::Register;
    Value *value = read_register(base);
    value = builder_.bitcast(value, integer_class(bits(value->type)));
    if (value->type != Type::I64 && (wide || value->type != Type::I32))
        value = builder_.resize(value, Type::I64, false);
    return {value, operand.signed_integer()};
}

// ---- .param variables of calls --------------------------------------------------------------

ParamSlots &FunctionLowering::slots(ptx::SymbolRef symbol) {
    auto [found, is_new] = frame_->slots.try_emplace({symbol.kind, symbol.index});
    if (is_new)
        found->second = make_slots(*variable(symbol), module_.param_uses(source()).use(symbol));
    return found->second;
}

ParamSlots FunctionLowering::make_slots(const ptx::Variable &variable, ParamUse use) {
    constexpr std::uint64_t kMostBytes = 32764; // of all parameters of a kernel, in CUDA
    ParamSlots made;
    made.bytes = variable.bytes();
    if (made.bytes > kMostBytes) {
        module_.error(variable.location, "parameter '" + std::string(variable.name) + "' has " +
                                             std::to_string(made.bytes) + " bytes, more than " +
                                             std::to_string(kMostBytes));
        made.bytes = 0;
    }
    if (use.address_taken) {
        made.memory = local_variable(std::string(variable.name), made.bytes,
                                     std::max<std::uint32_t>(variable.alignment, 8));
        return made;
    }
    made.granule = static_cast<std::uint32_t>(
        std::gcd(std::uint64_t{use.granule}, std::gcd(made.bytes, std::uint64_t{8})));
    for (std::uint64_t i = 0; i < made.bytes; i += made.granule)
        made.variables.push_back(ssa_.new_variable(integer_class(made.granule * 8)));
    return made;
}

Value *FunctionLowering::load_slots(const ParamSlots &slots, std::uint64_t offset, Type type) {
    unsigned size = bits(type) / 8;
    if (slots.memory) {
        Attributes symbol, load;
        symbol.space = load.space = Space::Local;
        symbol.symbol = *slots.memory;
        symbol.type = Scalar::B32;
        load.type = bit_type(type);
        load.offset = static_cast<std::int64_t>(offset);
        return emit(Opcode::Load, load, {in_entry(Opcode::SymbolAddress, symbol)});
    }
    std::size_t first = offset / slots.granule;
    if (size < slots.granule) { // a piece of one
        Value *whole = ssa_.read(slots.variables[first], builder_.block());
        Attributes a;
        a.type = bit_type(type);
        a.vector = static_cast<std::uint8_t>(slots.granule / size);
        return builder_.append(Opcode::Unpack, a, {whole})->result(offset % slots.granule / size);
    }
    std::vector<Value *> pieces;
    for (std::size_t i = 0; i < size / slots.granule; i++)
        pieces.push_back(ssa_.read(slots.variables[first + i], builder_.block()));
    if (pieces.size() == 1)
        return builder_.bitcast(pieces[0], type);
    Attributes a;
    a.type = bit_type(integer_class(size * 8));
    return builder_.bitcast(builder_.append(Opcode::Pack, a, pieces)->result(), type);
}

void FunctionLowering::store_slots(const ParamSlots &slots, std::uint64_t offset, Value *value) {
    unsigned size = bits(value->type) / 8;
    if (slots.memory) {
        Attributes symbol, store;
        symbol.space = store.space = Space::Local;
        symbol.symbol = *slots.memory;
        symbol.type = Scalar::B32;
        store.type = bit_type(value->type);
        store.offset = static_cast<std::int64_t>(offset);
        builder_.append(Opcode::Store, store, {in_entry(Opcode::SymbolAddress, symbol), value});
        return;
    }
    std::size_t first = offset / slots.granule;
    Type piece = integer_class(slots.granule * 8);
    Attributes a;
    if (size < slots.granule) { // a piece of one: the others stay
        a.type = bit_type(value->type);
        a.vector = static_cast<std::uint8_t>(slots.granule / size);
        Value *whole = ssa_.read(slots.variables[first], builder_.block());
        std::vector<Value *> pieces = builder_.append(Opcode::Unpack, a, {whole})->results;
        pieces[offset % slots.granule / size] = value;
        Attributes packed;
        packed.type = bit_type(piece);
        value = builder_.append(Opcode::Pack, packed, pieces)->result();
    }
    if (size <= slots.granule)
        return write_variable(slots.variables[first], builder_.bitcast(value, piece));
    a.type = bit_type(piece);
    a.vector = static_cast<std::uint8_t>(size / slots.granule);
    Instruction *unpack = builder_.append(Opcode::Unpack, a, {value});
    for (std::size_t i = 0; i < unpack->results.size(); i++)
        write_variable(slots.variables[first + i], unpack->result(i));
}

} // namespace softcuda::ir
