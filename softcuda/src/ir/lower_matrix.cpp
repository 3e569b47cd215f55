// lower_matrix.cpp -- wmma, mma, ldmatrix, stmatrix and movmatrix.
//
// A fragment is a lane's part of a matrix. The PTX manual specifies the layout of mma's fragments.
// The layout of wmma's fragments is unspecified, so they consist of mma's fragments: a wmma.mma
// becomes one to four multiplications of 16 x 8 or 8 x 8 tiles, and wmma.load and wmma.store become
// ordinary accesses to the elements of these tiles:
//
//     wmma.mma.m16n16k16    D = | D0 D1 |  =  A * | B0 B1 | + ...     D0, D1: mma.m16n8k16
//
// Moving matrices between lanes and memory is a shuffle of addresses or of data.
#include "ir/lower_families.h"
#include "ir/matrix.h"

#include <array>

namespace softcuda::ir {

namespace {

using ptx::MatrixShape;

struct Sizes {
    unsigned m, n, k;
};

Sizes sizes_of(MatrixShape shape) {
    switch (shape) {
    case MatrixShape::M16N16K16:
        return {16, 16, 16};
    case MatrixShape::M8N32K16:
        return {8, 32, 16};
    case MatrixShape::M32N8K16:
        return {32, 8, 16};
    case MatrixShape::M8N8K32:
        return {8, 8, 32};
    case MatrixShape::M8N8K128:
        return {8, 8, 128};
    case MatrixShape::M16N16K8:
        return {16, 16, 8};
    case MatrixShape::M8N8K4:
        return {8, 8, 4};
    case MatrixShape::M8N8K16:
        return {8, 8, 16};
    case MatrixShape::M16N8K4:
        return {16, 8, 4};
    case MatrixShape::M16N8K8:
        return {16, 8, 8};
    case MatrixShape::M16N8K16:
        return {16, 8, 16};
    case MatrixShape::M16N8K32:
        return {16, 8, 32};
    case MatrixShape::M16N8K64:
        return {16, 8, 64};
    case MatrixShape::M16N8K128:
        return {16, 8, 128};
    case MatrixShape::M16N8K256:
        return {16, 8, 256};
    default:
        return {8, 8, 8};
    }
}

/// The register class of a fragment's registers.
Scalar register_scalar(Scalar element) {
    return element == Scalar::F64   ? Scalar::F64
           : element == Scalar::F32 ? Scalar::F32
                                    : Scalar::B32;
}

std::vector<Value *> read_fragment(FunctionLowering &f, const ptx::Operand &operand, Scalar type) {
    std::vector<Value *> values;
    for (const ptx::Operand &element : elements(operand))
        values.push_back(f.read(element, register_scalar(type)));
    return values;
}

void write_fragment(FunctionLowering &f, const ptx::Operand &operand,
                    std::span<Value *const> values, Scalar type) {
    std::span<const ptx::Operand> registers = elements(operand);
    for (std::size_t i = 0; i < registers.size(); ++i)
        f.write(registers[i], values[i], register_scalar(type));
}

// mma.

struct Product {
    Attributes attributes;
    std::size_t results; ///< registers of D
};

std::vector<Value *> multiply(FunctionLowering &f, const Product &product,
                              std::initializer_list<std::span<Value *const>> fragments) {
    std::vector<Value *> operands;
    for (std::span<Value *const> fragment : fragments)
        operands.insert(operands.end(), fragment.begin(), fragment.end());
    Type type = register_class(register_scalar(product.attributes.type));
    const std::vector<Type> results(product.results, type);
    return f.builder().append(Opcode::Mma, product.attributes, operands, results)->results;
}

/// What does not depend on the tile. `types` are D's, A's, B's, C's.
Attributes product_attributes(const ptx::Instruction &i, const std::array<Scalar, 4> &types,
                              MatrixForm form) {
    Attributes a;
    a.type = types[0];
    a.source_type = types[1];
    form.b = types[2];
    form.c = types[3];
    form.conjunction = i.modifiers.logic == ptx::Logic::And;
    a.satfinite = i.modifiers.satfinite;
    a.rounding = rounding(i.modifiers.rounding);
    a.immediate = pack(form);
    return a;
}

void mma(FunctionLowering &f, const ptx::Instruction &i) {
    const ptx::Modifiers &m = i.modifiers;
    std::array<Scalar, 4> types;
    for (std::size_t n = 0; n < 4; ++n)
        types[n] = scalar(m.types[n]);
    const Sizes sizes = sizes_of(m.shape);
    MatrixForm form{.m = sizes.m, .k = sizes.k};
    form.quads = m.shape == MatrixShape::M8N8K4 && types[1] == Scalar::F16;
    form.column_a = m.layout == ptx::MatrixLayout::Col;
    form.row_b = m.layout_b == ptx::MatrixLayoutB::Row;
    form.sparse = i.opcode == ptx::Opcode::MmaSp;
    std::vector<Value *> metadata;
    if (form.sparse) {
        form.selector = static_cast<unsigned>(i.operand(5).integer);
        metadata.push_back(f.read(i.operand(4), Scalar::B32));
    }
    Product product{product_attributes(i, types, form), elements(i.operand(0)).size()};
    write_fragment(f, i.operand(0),
                   multiply(f, product,
                            {read_fragment(f, i.operand(1), types[1]),
                             read_fragment(f, i.operand(2), types[2]),
                             read_fragment(f, i.operand(3), types[3]), metadata}),
                   types[0]);
}

// wmma. Its fragments are tiles' fragments, one after the other.

/// The tiles that a wmma is made of.
struct Tiling {
    Sizes whole;
    unsigned m; ///< rows of a tile
    [[nodiscard]] unsigned down() const { return whole.m / m; }
    [[nodiscard]] unsigned across() const { return whole.n / 8; }
};

Tiling tiling_of(const ptx::Instruction &i) {
    const Sizes sizes = sizes_of(i.modifiers.shape);
    return {sizes, std::min(sizes.m, 16u)};
}

/// Elements of A or B in one register.
unsigned elements_per_register(Scalar element) {
    return element == Scalar::TF32 || element == Scalar::F64 ? 1 : 32 / bits(element);
}

/// The position of an element of a fragment in its matrix: the common part, and the lanes' offsets:
/// row = row + lane / 4, column = column + lane % 4 * step (the other way round for B).
struct Place {
    unsigned row, column, step;
};

/// Element `h` of register `r` of a tile of A with `rows` rows; of B with 8 columns, transposed.
Place factor_place(unsigned r, unsigned h, unsigned rows, unsigned each) {
    unsigned stripes = rows / 8;
    return {8 * (r % stripes), r / stripes * 4 * each + h, each};
}

/// Element `h` of register `r` of a tile of C or D.
Place sum_place(unsigned r, unsigned h, unsigned each) {
    return each == 2 ? Place{8 * r, h, 2} : Place{8 * (r / 2), r % 2, 2};
}

class FragmentMover {
  public:
    FragmentMover(FunctionLowering &f, const ptx::Instruction &i, std::size_t address_index)
        : f_(f), instruction_(i), tiling_(tiling_of(i)), space_(space(i.modifiers.space)),
          element_(scalar(i.modifiers.type())), rows_(i.modifiers.layout == ptx::MatrixLayout::Row),
          address_(f.address(i.operand(address_index), space_)), lane_(f.special(Special::LaneId)) {
        group_ = f.emit(Opcode::Shr, Scalar::U32, {lane_, constant(2)});
        member_ = f.emit(Opcode::And, Scalar::B32, {lane_, constant(3)});
        std::size_t stride = address_index + 1 + (address_index == 0 ? 1 : 0);
        stride_ = stride < i.operands.size() ? f.read(i.operand(stride), Scalar::U32)
                                             : constant(default_stride());
    }

    std::vector<Value *> load();
    void store(std::span<Value *const> fragment);

  private:
    struct Element {
        unsigned row, column; ///< in the matrix, of lane 0
        bool transposed;      ///< lanes of a group go down a column (B)
        unsigned step;        ///< between lanes of a group
    };

    Value *constant(std::uint64_t value) { return f_.constant(Type::I32, value); }
    [[nodiscard]] bool is_sum() const {
        return instruction_.modifiers.fragment == ptx::Fragment::C ||
               instruction_.modifiers.fragment == ptx::Fragment::D;
    }
    [[nodiscard]] bool is_b() const { return instruction_.modifiers.fragment == ptx::Fragment::B; }
    [[nodiscard]] unsigned each() const {
        return is_sum() ? (element_ == Scalar::F16 ? 2 : 1) : elements_per_register(element_);
    }
    [[nodiscard]] std::size_t register_count() const {
        const std::size_t operand = instruction_.opcode == ptx::Opcode::WmmaStore ? 1 : 0;
        return elements(instruction_.operand(operand)).size();
    }
    std::uint64_t default_stride();
    Element element(unsigned r, unsigned h);
    Value *address_of(const Element &element);
    Value *scaled(Value *count, Value *unit);
    Attributes access(Scalar type, std::uint8_t count);
    Value *load_register(unsigned r);
    Value *load_single(const Element &element, Scalar type);

    FunctionLowering &f_;
    const ptx::Instruction &instruction_;
    Tiling tiling_;
    Space space_;
    Scalar element_;
    bool rows_;
    Address address_;
    Value *lane_, *group_, *member_, *stride_;
};

/// By default, rows (or columns) are adjacent.
std::uint64_t FragmentMover::default_stride() {
    const Sizes &s = tiling_.whole;
    unsigned rows = is_b() ? s.k : s.m;
    unsigned columns = is_sum() || is_b() ? s.n : s.k;
    return rows_ ? columns : rows;
}

FragmentMover::Element FragmentMover::element(unsigned r, unsigned h) {
    unsigned per_tile = static_cast<unsigned>(register_count());
    if (is_sum()) {
        per_tile /= tiling_.down() * tiling_.across();
        Place place = sum_place(r % per_tile, h, each());
        unsigned tile = r / per_tile;
        return {place.row + tile / tiling_.across() * tiling_.m,
                place.column + tile % tiling_.across() * 8, false, place.step};
    }
    if (is_b()) {
        per_tile = tiling_.whole.k / (4 * each());
        Place place = factor_place(r % per_tile, h, 8, each());
        return {place.column, r / per_tile % tiling_.across() * 8, true, place.step};
    }
    per_tile = tiling_.m / 8 * tiling_.whole.k / (4 * each());
    Place place = factor_place(r % per_tile, h, tiling_.m, each());
    return {place.row + r / per_tile % tiling_.down() * tiling_.m, place.column, false, place.step};
}

Value *FragmentMover::scaled(Value *count, Value *unit) {
    return f_.emit(Opcode::Mul, Scalar::U32, {count, unit});
}

/// base + (row * stride + column) elements, or the other way round for columns.
Value *FragmentMover::address_of(const Element &e) {
    auto sum = [&](Value *a, std::uint64_t b) {
        return b == 0 ? a : f_.emit(Opcode::Add, Scalar::U32, {a, constant(b)});
    };
    Value *within = scaled(member_, constant(e.step));
    Value *row = sum(e.transposed ? within : group_, e.row);
    Value *column = sum(e.transposed ? group_ : within, e.column);
    Value *major = scaled(rows_ ? row : column, stride_);
    Value *index = f_.emit(Opcode::Add, Scalar::U32, {major, rows_ ? column : row});
    Type type = address_.base->type;
    bool wide = type == Type::I64;
    Attributes widen;
    widen.type = Scalar::U64;
    widen.source_type = Scalar::U32;
    if (wide)
        index = f_.emit(Opcode::Convert, widen, {index});
    unsigned size = bits(element_);
    Scalar words = wide ? Scalar::U64 : Scalar::U32;
    Value *offset = size < 8 ? f_.emit(Opcode::Shr, words, {index, constant(size == 1 ? 3 : 1)})
                             : f_.emit(Opcode::Mul, words, {index, f_.constant(type, size / 8)});
    return f_.emit(Opcode::Add, words, {address_.base, offset});
}

Attributes FragmentMover::access(Scalar type, std::uint8_t count) {
    Attributes a;
    a.type = type;
    a.space = space_;
    a.offset = address_.offset;
    a.vector = count;
    return a;
}

Value *FragmentMover::load_single(const Element &e, Scalar type) {
    return f_.builder().append(Opcode::Load, access(type, 1), {address_of(e)})->result();
}

/// A register with contiguous elements is one load; else its elements are loaded separately and
/// combined.
Value *FragmentMover::load_register(unsigned r) {
    unsigned count = each();
    Element first = element(r, 0);
    bool along = rows_ != first.transposed;
    if (count == 1 || along)
        return load_single(first, register_scalar(element_));
    Scalar piece = bits(element_) == 16 ? Scalar::B16 : Scalar::B8;
    std::vector<Value *> pieces;
    for (unsigned h = 0; h < count; ++h)
        pieces.push_back(load_single(element(r, h), piece));
    Attributes whole;
    whole.type = Scalar::B32;
    return f_.builder().append(Opcode::Pack, whole, pieces)->result();
}

std::vector<Value *> FragmentMover::load() {
    std::vector<Value *> registers;
    for (unsigned r = 0; r < register_count(); ++r)
        registers.push_back(load_register(r));
    return registers;
}

void FragmentMover::store(std::span<Value *const> fragment) {
    for (unsigned r = 0; r < fragment.size(); ++r) {
        Element first = element(r, 0);
        if (each() == 1 || rows_) {
            Scalar type = register_scalar(element_);
            f_.builder().append(Opcode::Store, access(type, 1), {address_of(first), fragment[r]});
            continue;
        }
        Attributes half;
        half.type = Scalar::B16;
        constexpr Type types[] = {Type::I16, Type::I16};
        Instruction *halves =
            f_.builder().append(Opcode::Unpack, half, std::span(&fragment[r], 1), types);
        for (unsigned h = 0; h < 2; ++h)
            f_.builder().append(Opcode::Store, access(Scalar::B16, 1),
                                {address_of(element(r, h)), halves->result(h)});
    }
}

/// The tiles of a wmma's fragment.
std::span<Value *const> tile_of(const std::vector<Value *> &fragment, std::size_t tile,
                                std::size_t per_tile) {
    std::size_t tiles = fragment.size() / per_tile;
    return std::span(fragment).subspan(tile % tiles * per_tile, per_tile);
}

void wmma_multiply(FunctionLowering &f, const ptx::Instruction &i) {
    const ptx::Modifiers &m = i.modifiers;
    const Tiling tiling = tiling_of(i);
    std::array<Scalar, 4> types{scalar(m.types[0]), scalar(m.types[1]), scalar(m.types[2]),
                                scalar(m.types[3])};
    if (m.type_count == 2) // D and C of f16 or f32; A and B are f16
        types = {types[0], Scalar::F16, Scalar::F16, types[1]};
    const unsigned k = types[1] == Scalar::TF32 ? 4 : tiling.whole.k;
    MatrixForm form{.m = tiling.m, .k = k};
    const auto a = read_fragment(f, i.operand(1), types[1]);
    const auto b = read_fragment(f, i.operand(2), types[2]);
    const auto c = read_fragment(f, i.operand(3), types[3]);
    const unsigned tiles = tiling.down() * tiling.across();
    const unsigned each = elements_per_register(types[1]);
    const std::size_t of_a = tiling.m / 8 * tiling.whole.k / (4 * each);
    const std::size_t of_b = tiling.whole.k / (4 * each);
    const Product product{product_attributes(i, types, form),
                          elements(i.operand(0)).size() / tiles};
    std::vector<Value *> d;
    for (unsigned tile = 0; tile < tiles; ++tile) {
        const auto tile_a = tile_of(a, tile / tiling.across(), of_a);
        const auto tile_b = tile_of(b, tile % tiling.across(), of_b);
        // The hardware takes tf32 in two steps of four.
        const std::size_t steps = types[1] == Scalar::TF32 ? 2 : 1;
        std::span<Value *const> sum = tile_of(c, tile, c.size() / tiles);
        std::vector<Value *> part;
        for (std::size_t step = 0; step < steps; ++step) {
            part = multiply(f, product,
                            {tile_a.subspan(step * of_a / steps, of_a / steps),
                             tile_b.subspan(step * of_b / steps, of_b / steps), sum});
            sum = part;
        }
        d.insert(d.end(), part.begin(), part.end());
    }
    write_fragment(f, i.operand(0), d, types[0]);
}

void wmma_load(FunctionLowering &f, const ptx::Instruction &i) {
    write_fragment(f, i.operand(0), FragmentMover(f, i, 1).load(), scalar(i.modifiers.type()));
}

void wmma_store(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.type());
    FragmentMover(f, i, 0).store(read_fragment(f, i.operand(1), type));
}

} // namespace

void lower_matrix(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Mma:
    case ptx::Opcode::MmaSp:
        return mma(f, i);
    case ptx::Opcode::WmmaMma:
        return wmma_multiply(f, i);
    case ptx::Opcode::WmmaLoad:
        return wmma_load(f, i);
    case ptx::Opcode::WmmaStore:
        return wmma_store(f, i);
    default:
        return f.unsupported(i);
    }
}

} // namespace softcuda::ir
