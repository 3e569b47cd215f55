// lower_texture.cpp -- tex, tld4, txq, suld, sust, sured, suq.
//
//     tex.a2d.v4.f32.f32 {..}, [t, {layer, x, y, _}]   =>   texture_read handle, layer, x, y
//
// The handle is the value of a .u64 register, or the driver's value in a .texref or .surfref
// variable. The attribute `immediate` encodes the operation of the instruction.
#include "ir/lower_families.h"

#include "support/texture_operation.h"

namespace softcuda::ir {

namespace {

using Kind = TextureOperation::Kind;

std::optional<TextureOperation::Geometry> geometry(ptx::Geometry geometry) {
    using G = TextureOperation::Geometry;
    switch (geometry) {
    case ptx::Geometry::D1:
        return G::D1;
    case ptx::Geometry::D2:
        return G::D2;
    case ptx::Geometry::D3:
        return G::D3;
    case ptx::Geometry::A1d:
        return G::A1;
    case ptx::Geometry::A2d:
        return G::A2;
    case ptx::Geometry::Cube:
        return G::Cube;
    case ptx::Geometry::Acube:
        return G::Acube;
    default: // multisampled ones are made by graphics interfaces only
        return std::nullopt;
    }
}

TextureOperation::Outside outside(ptx::SurfaceClamp clamp) {
    switch (clamp) {
    case ptx::SurfaceClamp::Clamp:
        return TextureOperation::Outside::Clamp;
    case ptx::SurfaceClamp::Zero:
        return TextureOperation::Outside::Zero;
    default:
        return TextureOperation::Outside::Trap;
    }
}

TextureOperation::Level level(ptx::MipmapMode mode) {
    switch (mode) {
    case ptx::MipmapMode::Level:
        return TextureOperation::Level::Explicit;
    case ptx::MipmapMode::Grad:
        return TextureOperation::Level::Gradient;
    default:
        return TextureOperation::Level::Base;
    }
}

TextureOperation::Operator reduction(ptx::Operation operation) {
    switch (operation) {
    case ptx::Operation::Min:
        return TextureOperation::Operator::Min;
    case ptx::Operation::Max:
        return TextureOperation::Operator::Max;
    case ptx::Operation::And:
        return TextureOperation::Operator::And;
    case ptx::Operation::Or:
        return TextureOperation::Operator::Or;
    default:
        return TextureOperation::Operator::Add;
    }
}

/// The operation that the modifiers select; none if the device does not support it.
std::optional<TextureOperation> operation_of(const ptx::Instruction &i, Kind kind) {
    TextureOperation made;
    made.kind = kind;
    made.level = level(i.modifiers.mipmap);
    if (kind == Kind::QueryTexture || kind == Kind::QuerySurface) {
        made.query =
            static_cast<TextureOperation::Query>(static_cast<unsigned>(i.modifiers.query) -
                                                 static_cast<unsigned>(ptx::TextureQuery::Width));
        return made;
    }
    const auto shape = geometry(i.modifiers.geometry);
    if (!shape)
        return std::nullopt;
    made.geometry = *shape;
    made.outside = outside(i.modifiers.surface_clamp);
    made.formatted = i.modifiers.surface_format == ptx::SurfaceFormat::Formatted;
    made.reduction = reduction(i.modifiers.operation);
    made.is_signed = is_signed(scalar(i.modifiers.type()));
    made.float_coordinates = i.modifiers.types[1] == ptx::ScalarType::F32;
    made.half_results = i.modifiers.type() == ptx::ScalarType::F16x2;
    if (i.modifiers.gather != ptx::GatherComponent::None)
        made.component = static_cast<unsigned>(i.modifiers.gather) - 1;
    if (kind == Kind::Load || kind == Kind::Store || kind == Kind::Reduce) {
        made.bytes = bits(scalar(i.modifiers.type())) / 8;
        made.elements = i.modifiers.vector_width();
    }
    return made;
}

/// Collects the operands of one instruction.
class Operands {
  public:
    Operands(FunctionLowering &f, const ptx::Instruction &i) : f_(f), i_(i) {}

    /// The object of `[t]` or `[t, {coordinates}]`; false, with an error, for one with a sampler.
    bool add_object(const ptx::Operand &place) {
        const bool is_tuple = place.is(ptx::OperandKind::Tuple);
        if (is_tuple && place.elements.size() > 2) {
            f_.error(i_, "a .samplerref operand (.texmode_independent) is not supported by the "
                         "software device");
            return false;
        }
        values.push_back(handle(is_tuple ? place.elements[0] : place));
        return true;
    }

    void add_coordinates(const ptx::Operand &place, const TextureOperation &operation) {
        const std::span<const ptx::Operand> given = elements(place.elements[1]);
        for (unsigned n = 0; n < operation.coordinates() && n < given.size(); n++) {
            const bool is_layer = n == 0 && operation.is_layered();
            add(given[n], operation.float_coordinates && !is_layer ? Scalar::F32 : Scalar::S32);
        }
    }

    void add(const ptx::Operand &operand, Scalar type) { values.push_back(f_.read(operand, type)); }

    void add_first(const ptx::Operand &vector, unsigned count, Scalar type) {
        const std::span<const ptx::Operand> given = elements(vector);
        for (unsigned n = 0; n < count && n < given.size(); n++)
            add(given[n], type);
    }

    std::vector<Value *> values;

  private:
    /// A register's value, or the content of a .texref or .surfref variable.
    Value *handle(const ptx::Operand &operand) {
        if (!operand.symbol) {
            ptx::Operand base = operand;
            if (operand.is(ptx::OperandKind::Address))
                base.kind = ptx::OperandKind::Register;
            return f_.read(base, Scalar::B64);
        }
        if (operand.symbol.kind == ptx::SymbolKind::Parameter) {
            Attributes load;
            load.type = Scalar::B64;
            load.offset = f_.function().parameters[operand.symbol.index].offset;
            return f_.emit(Opcode::LoadParam, load, {});
        }
        Attributes load;
        load.type = Scalar::B64;
        load.space = Space::Global;
        load.invariant = true; // the driver writes it between launches
        return f_.emit(Opcode::Load, load, {f_.symbol_address(operand.symbol, 0, Type::I64)});
    }

    FunctionLowering &f_;
    const ptx::Instruction &i_;
};

Attributes attributes_of(const TextureOperation &operation, Scalar type, unsigned results) {
    Attributes a;
    a.type = type;
    a.vector = static_cast<std::uint8_t>(results);
    a.immediate = operation.to_bits();
    return a;
}

void write_results(FunctionLowering &f, const ptx::Operand &to, const Instruction &made,
                   Scalar type) {
    const bool tells_residency = to.is(ptx::OperandKind::Pair);
    const std::span<const ptx::Operand> registers = elements(tells_residency ? to.elements[0] : to);
    for (std::size_t n = 0; n < registers.size() && n < made.results.size(); n++)
        if (!registers[n].is(ptx::OperandKind::Sink))
            f.write(registers[n], made.result(n), type);
    if (tells_residency) // all of an array is there always
        f.write(to.elements[1], f.constant(Type::I1, 1), Scalar::Pred);
}

/// tex and tld4: d, [t, coordinates] {, level | gradients} {, offsets}.
void fetch(FunctionLowering &f, const ptx::Instruction &i, Kind kind) {
    std::optional<TextureOperation> operation = operation_of(i, kind);
    if (!operation) // .2dms, .a2dms
        return f.error(i, "multisample textures are not supported: CUDA cannot create them");
    if (kind == Kind::Gather && operation->is_cube())
        return f.error(i,
                       "gathers from cube maps are not supported: CUDA has no function for them");
    Operands operands(f, i);
    if (!operands.add_object(i.operand(1)))
        return;
    operands.add_coordinates(i.operand(1), *operation);
    std::size_t next = 2;
    if (operation->level == TextureOperation::Level::Explicit) {
        operands.add(i.operand(next++), operation->float_coordinates ? Scalar::F32 : Scalar::S32);
    } else if (operation->level == TextureOperation::Level::Gradient) {
        for (int direction = 0; direction < 2; direction++)
            operands.add_first(i.operand(next++), operation->axes(), Scalar::F32);
    }
    if (next < i.operands.size() && i.operand(next).is(ptx::OperandKind::Vector)) {
        operation->has_offsets = true;
        operands.add_first(i.operand(next++), operation->axes(), Scalar::S32);
    }
    if (next < i.operands.size()) // comparing with a depth
        return f.error(i,
                       "depth comparison is not supported: a CUDA texture has no compare function");
    const Scalar type = operation->half_results ? Scalar::B32 : scalar(i.modifiers.type());
    const unsigned results = operation->half_results ? 2 : 4;
    write_results(f, i.operand(0),
                  *f.builder().append(Opcode::TextureRead, attributes_of(*operation, type, results),
                                      operands.values),
                  type);
}

/// What only OpenCL's drivers have an answer to.
bool is_of_opencl(TextureOperation::Query query) {
    using Query = TextureOperation::Query;
    return query == Query::ChannelDataType || query == Query::ChannelOrder ||
           query == Query::ForceUnnormalized || query == Query::MemoryLayout;
}

/// txq and suq: d, [t] {, level}.
void query(FunctionLowering &f, const ptx::Instruction &i, Kind kind) {
    const std::optional<TextureOperation> operation = operation_of(i, kind);
    if (is_of_opencl(operation->query))
        return f.error(i, "this query is not supported: only OpenCL defines its result");
    Operands operands(f, i);
    if (!operands.add_object(i.operand(1)))
        return;
    if (operation->level == TextureOperation::Level::Explicit)
        operands.add(i.operand(2), Scalar::U32);
    write_results(f, i.operand(0),
                  *f.builder().append(Opcode::TextureRead,
                                      attributes_of(*operation, Scalar::B32, 1), operands.values),
                  Scalar::B32);
}

/// suld: d, [s, coordinates].
void load_surface(FunctionLowering &f, const ptx::Instruction &i) {
    const std::optional<TextureOperation> operation = operation_of(i, Kind::Load);
    if (!operation)
        return f.unsupported(i);
    Operands operands(f, i);
    if (!operands.add_object(i.operand(1)))
        return;
    operands.add_coordinates(i.operand(1), *operation);
    const Scalar type = scalar(i.modifiers.type());
    write_results(f, i.operand(0),
                  *f.builder().append(Opcode::TextureRead,
                                      attributes_of(*operation, type, operation->elements),
                                      operands.values),
                  type);
}

/// sust and sured: [s, coordinates], data.
void store(FunctionLowering &f, const ptx::Instruction &i, Kind kind) {
    const std::optional<TextureOperation> operation = operation_of(i, kind);
    if (!operation)
        return f.unsupported(i);
    Operands operands(f, i);
    if (!operands.add_object(i.operand(0)))
        return;
    operands.add_coordinates(i.operand(0), *operation);
    const Scalar type = scalar(i.modifiers.type());
    operands.add_first(i.operand(1), operation->elements, type);
    f.builder().append(Opcode::SurfaceWrite, attributes_of(*operation, type, 1), operands.values);
}

} // namespace

void lower_texture(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Tex:
        return fetch(f, i, Kind::Fetch);
    case ptx::Opcode::Tld4:
        return fetch(f, i, Kind::Gather);
    case ptx::Opcode::Txq:
        return query(f, i, Kind::QueryTexture);
    case ptx::Opcode::Suq:
        return query(f, i, Kind::QuerySurface);
    case ptx::Opcode::Suld:
        return load_surface(f, i);
    case ptx::Opcode::Istypep:
        return f.error(i, "`istypep` is not supported: a CUDA handle does not record whether it is "
                          "a texture or a surface");
    case ptx::Opcode::Sured:
        return store(f, i, Kind::Reduce);
    default:
        return store(f, i, Kind::Store);
    }
}

} // namespace softcuda::ir
