// texture_operation.h -- a texture or surface instruction, encoded as one number.
//
// The number is passed from PTX through the IR to generated code, which passes it to the runtime.
#pragma once

#include <cstdint>
#include <type_traits>

namespace softcuda {

struct TextureOperation {
    enum class Kind : std::uint8_t {
        Fetch,
        Gather,
        QueryTexture,
        QuerySurface,
        Load,
        Store,
        Reduce
    };
    enum class Geometry : std::uint8_t { D1, D2, D3, A1, A2, Cube, Acube };
    enum class Level : std::uint8_t { Base, Explicit, Gradient };
    /// The effect of an access outside a surface.
    enum class Outside : std::uint8_t { Trap, Clamp, Zero };
    enum class Operator : std::uint8_t { Add, Min, Max, And, Or };
    enum class Query : std::uint8_t {
        Width,
        Height,
        Depth,
        ChannelDataType,
        ChannelOrder,
        NormalizedCoordinates,
        ForceUnnormalized,
        FilterMode,
        AddressMode0,
        AddressMode1,
        AddressMode2,
        ArraySize,
        Levels,
        Samples,
        MemoryLayout,
    };

    Kind kind = Kind::Fetch;
    Geometry geometry = Geometry::D1;
    Level level = Level::Base;
    Outside outside = Outside::Trap;
    Operator reduction = Operator::Add;
    Query query = Query::Width;
    bool float_coordinates = false;
    bool half_results = false; ///< two f16x2 instead of four words
    bool has_offsets = false;  ///< texels to be added to the coordinates
    bool formatted = false;    ///< surface coordinates are elements, not bytes; data is converted
    bool is_signed = false;    ///< of a reduction
    unsigned component = 0;    ///< of a gather
    unsigned bytes = 4;        ///< of one element of surface data: 1, 2, 4, 8
    unsigned elements = 1;     ///< 1, 2, 4

    /// The number of coordinates of the instruction, including the layer's index, which is the
    /// first one.
    [[nodiscard]] unsigned coordinates() const noexcept {
        constexpr unsigned counts[] = {1, 2, 3, 2, 3, 3, 4};
        return counts[static_cast<unsigned>(geometry)];
    }
    /// The number of coordinates without the layer's index.
    [[nodiscard]] unsigned axes() const noexcept { return coordinates() - (is_layered() ? 1 : 0); }
    [[nodiscard]] bool is_layered() const noexcept {
        return geometry == Geometry::A1 || geometry == Geometry::A2 || geometry == Geometry::Acube;
    }
    [[nodiscard]] bool is_cube() const noexcept {
        return geometry == Geometry::Cube || geometry == Geometry::Acube;
    }

    [[nodiscard]] std::uint32_t to_bits() const noexcept {
        std::uint32_t bits = 0;
        unsigned at = 0;
        const auto put = [&](auto value, unsigned width) {
            bits |= static_cast<std::uint32_t>(value) << at;
            at += width;
        };
        visit_fields(*this, put);
        return bits;
    }

    [[nodiscard]] static TextureOperation from_bits(std::uint32_t bits) noexcept {
        TextureOperation made;
        const auto take = [&](auto &field, unsigned width) {
            field =
                static_cast<std::remove_reference_t<decltype(field)>>(bits & ((1U << width) - 1));
            bits >>= width;
        };
        visit_fields(made, take);
        return made;
    }

  private:
    template <class Self, class Visitor> static void visit_fields(Self &self, Visitor &&visit) {
        visit(self.kind, 3);
        visit(self.geometry, 3);
        visit(self.level, 2);
        visit(self.outside, 2);
        visit(self.reduction, 3);
        visit(self.query, 4);
        visit(self.float_coordinates, 1);
        visit(self.half_results, 1);
        visit(self.has_offsets, 1);
        visit(self.formatted, 1);
        visit(self.is_signed, 1);
        visit(self.component, 2);
        visit(self.bytes, 4);
        visit(self.elements, 3);
    }
};

} // namespace softcuda
