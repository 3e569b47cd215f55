// lower_bulk_copy.cpp -- cp.async.bulk, cp.reduce.async.bulk, st.async, red.async and tensormap.
//
// A function of the runtime carries them out for each lane that executes them, with generic
// addresses. It is done when the instruction is: bytes that an mbarrier expects have come, and
// there is nothing left that a group of copies would wait for.
#include "ir/lower_families.h"

#include "support/bulk_copy.h"

#include "support/runtime_operation.h"
#include "support/tensor_map.h"
#include <algorithm>

namespace softcuda::ir {

namespace {

ElementOperation element_operation(ptx::Operation operation) {
    switch (operation) {
    case ptx::Operation::Add:
        return ElementOperation::Add;
    case ptx::Operation::Min:
        return ElementOperation::Min;
    case ptx::Operation::Max:
        return ElementOperation::Max;
    case ptx::Operation::Inc:
        return ElementOperation::Inc;
    case ptx::Operation::Dec:
        return ElementOperation::Dec;
    case ptx::Operation::And:
        return ElementOperation::And;
    case ptx::Operation::Or:
        return ElementOperation::Or;
    case ptx::Operation::Xor:
        return ElementOperation::Xor;
    default:
        return ElementOperation::Copy;
    }
}

ElementType element_type(ptx::ScalarType type) {
    switch (type) {
    case ptx::ScalarType::S32:
        return ElementType::S32;
    case ptx::ScalarType::S64:
        return ElementType::S64;
    case ptx::ScalarType::F16:
        return ElementType::F16;
    case ptx::ScalarType::BF16:
        return ElementType::BF16;
    case ptx::ScalarType::F32:
        return ElementType::F32;
    case ptx::ScalarType::F64:
        return ElementType::F64;
    default:
        return ptx::bits_of(type) == 64 ? ElementType::U64 : ElementType::U32;
    }
}

ptx::Space source_space(ptx::SourceSpace space) {
    return space == ptx::SourceSpace::Global ? ptx::Space::Global : ptx::Space::SharedCta;
}

void call(FunctionLowering &f, RuntimeOperation operation, const BulkForm &form,
          std::span<Value *const> operands) {
    runtime_call(f, runtime_word(operation, form.pack()), operands, {});
}

/// to, from, bytes[, barrier][, mask of blocks][, cache policy][, mask of bytes]
void copy(FunctionLowering &f, const ptx::Instruction &i) {
    const ptx::Modifiers &m = i.modifiers;
    BulkForm form{.element = {element_operation(m.operation), element_type(m.type())},
                  .arrives = m.completion == ptx::Completion::Mbarrier,
                  .multicast = m.multicast,
                  .masked = m.byte_mask};
    std::vector<Value *> operands{generic_address(f, i.operand(0), m.space),
                                  generic_address(f, i.operand(1), source_space(m.source_space)),
                                  f.read(i.operand(2), Scalar::U32)};
    if (form.arrives)
        operands.push_back(generic_address(f, i.operand(3), m.space));
    if (form.multicast || form.masked) {
        const std::size_t at = form.multicast ? 4 : i.operands.size() - 1;
        operands.push_back(
            f.builder().resize(f.read(i.operand(at), Scalar::U16), Type::I32, false));
    }
    call(f, RuntimeOperation::BulkCopy, form, operands);
}

/// [to], elements, [barrier]
void store_remote(FunctionLowering &f, const ptx::Instruction &i) {
    const ptx::Modifiers &m = i.modifiers;
    const Scalar type = scalar(m.type());
    BulkForm form{.element = {element_operation(m.operation), element_type(m.type())},
                  .arrives = true,
                  .count = static_cast<std::uint8_t>(m.vector_width())};
    std::vector<Value *> operands{generic_address(f, i.operand(0), m.space),
                                  generic_address(f, i.operand(2), m.space)};
    const ptx::Operand &source = i.operand(1);
    const auto elements =
        source.is(ptx::OperandKind::Vector) ? source.elements : std::span(&source, 1);
    const Type bits_class = integer_class(bits(type));
    for (const ptx::Operand &element : elements)
        operands.push_back(f.builder().bitcast(f.read(element, type), bits_class));
    call(f, RuntimeOperation::AsyncStore, form, operands);
}

Value *map_address(FunctionLowering &f, const ptx::Operand &map) {
    Value *address = f.read(map, Scalar::B64);
    if (!map.symbol)
        return address;
    Attributes a;
    a.space = f.space_of(map.symbol);
    return f.emit(Opcode::ToGeneric, a, {address});
}

void push_coordinates(FunctionLowering &f, const ptx::Operand &tensor,
                      std::vector<Value *> &operands) {
    for (const ptx::Operand &coordinate : tensor.elements[1].elements)
        operands.push_back(f.read(coordinate, Scalar::B32));
}

/// to, tensor, barrier[, mask of blocks], or tensor, from
void copy_box(FunctionLowering &f, const ptx::Instruction &i) {
    const ptx::Modifiers &m = i.modifiers;
    BulkForm form{.element = {element_operation(m.operation), {}},
                  .arrives = m.completion == ptx::Completion::Mbarrier,
                  .multicast = m.multicast,
                  .count = static_cast<std::uint8_t>(m.dimensions())};
    std::vector<Value *> operands;
    if (!form.arrives) {
        const ptx::Operand &tensor = i.operand(0);
        operands = {map_address(f, tensor.elements[0]),
                    generic_address(f, i.operand(1), source_space(m.source_space))};
        push_coordinates(f, tensor, operands);
        return call(f, RuntimeOperation::TensorStore, form, operands);
    }
    const ptx::Operand &tensor = i.operand(1);
    operands = {generic_address(f, i.operand(0), m.space), map_address(f, tensor.elements[0]),
                generic_address(f, i.operand(2), m.space)};
    push_coordinates(f, tensor, operands);
    if (form.multicast)
        operands.push_back(f.builder().resize(f.read(i.operand(3), Scalar::U16), Type::I32, false));
    call(f, RuntimeOperation::TensorLoad, form, operands);
}

TensorMapField::Kind field_kind(ptx::TensorField field) {
    using Kind = TensorMapField::Kind;
    switch (field) {
    case ptx::TensorField::GlobalAddress:
        return Kind::Address;
    case ptx::TensorField::Rank:
        return Kind::Rank;
    case ptx::TensorField::BoxDim:
        return Kind::Box;
    case ptx::TensorField::GlobalDim:
        return Kind::Extent;
    case ptx::TensorField::GlobalStride:
        return Kind::Stride;
    case ptx::TensorField::ElementStride:
        return Kind::Step;
    case ptx::TensorField::Elemtype:
        return Kind::Type;
    case ptx::TensorField::SwizzleMode:
        return Kind::Swizzle;
    default:
        return Kind::Fill;
    }
}

/// [map]{, dimension}, value
void replace_field(FunctionLowering &f, const ptx::Instruction &i) {
    const ptx::Modifiers &m = i.modifiers;
    const ptx::Operand &value = i.operands.back();
    if (m.tensor_field == ptx::TensorField::InterleaveLayout) {
        if (value.integer != 0) // there is no other
            f.error(i, "interleaved layouts of tensors are not supported");
        return;
    }
    TensorMapField field{.kind = field_kind(m.tensor_field)};
    if (i.operands.size() > 2)
        field.dimension = static_cast<std::uint8_t>(i.operand(1).integer);
    Value *number = f.builder().resize(f.read(value, scalar(m.type())), Type::I64, false);
    Value *operands[] = {generic_address(f, i.operand(0), m.space), number};
    runtime_call(f, runtime_word(RuntimeOperation::ReplaceField, field.pack()), operands, {});
}

/// Copies complete immediately. The check modes observe when a thread waits for them.
void end_group(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.immediate = kBulkGroups;
    if (i.opcode == ptx::Opcode::CpAsyncBulkCommitGroup)
        a.immediate |= kCommitBulkGroup;
    else
        a.immediate |= static_cast<std::uint32_t>(
            std::min<std::uint64_t>(i.operand(0).integer, kMostBulkGroups));
    if (i.modifiers.read)
        a.immediate |= kReadBulkGroups;
    f.builder().append(Opcode::CopyGroup, a, {});
}

} // namespace

void lower_bulk_copy(FunctionLowering &f, const ptx::Instruction &i) {
    if (i.opcode == ptx::Opcode::CpAsyncBulkCommitGroup ||
        i.opcode == ptx::Opcode::CpAsyncBulkWaitGroup)
        return end_group(f, i);
    if (i.opcode == ptx::Opcode::TensormapReplace)
        replace_field(f, i);
    else if (i.opcode == ptx::Opcode::CpAsyncBulkTensor ||
             i.opcode == ptx::Opcode::CpReduceAsyncBulkTensor)
        copy_box(f, i);
    else if (i.opcode == ptx::Opcode::StAsync || i.opcode == ptx::Opcode::RedAsync)
        store_remote(f, i);
    else
        copy(f, i);
}

} // namespace softcuda::ir
