// texture_sample.cpp -- point and linear filtering with the numbers of NVIDIA's hardware.
//
// Where the manual is unspecific, the rules follow recordings of an H200 (tests/softcuda/texture).
// A coordinate becomes a fixed-point number of texels:
//
//     normalized       x is wrapped or mirrored into [0, 1], cut to 21 bits after the point, and
//                      multiplied by the extent
//     point filter     the texel is that number without its fraction
//     linear filter    it is rounded to 8 bits after the point (halves up), minus 0.5; its
//                      whole part i is the first texel, its fraction a/256 the weight of the second
//
//     256 is shared out by c between the slices, each share by a between the columns, and each of
//     those by b between the rows, always in whole numbers: the second one's part is rounded to the
//     nearest, halves up, but in the first column down
//
// Floats are summed exactly and rounded once, halves away from zero; halves are then cut to halves
// again. Integers that are read as floats are widened to 16 bits, summed, and rounded to 16 bits.
// Integers that are read as integers are summed exactly; 8 and 16 bits are rounded to the nearest,
// halves up, and 32 bits are rounded down. A texture of one
// dimension is one of two with a height of 1, read at y = 0: where its second address mode is the
// border's, linear filtering mixes in half of that. Integer coordinates outside read as zero.
#include "rt/texture_sample.h"

#include <limits>

namespace softcuda::rt {
namespace {

constexpr int kCoordinateBits = 21;
constexpr float kFarAway = 1073741824.0F; // beyond any texture; keeps conversions to integers legal

/// The texels along one axis that a coordinate falls on.
struct Span {
    std::int64_t first = 0; ///< before the address mode is applied
    unsigned weight = 0;    ///< of the second one, of 256
    int step = 1;           ///< to the second one: backwards in a mirrored part
};

float in_range(float value) noexcept {
    if (value != value)
        return 0;
    return std::clamp(value, -kFarAway, kFarAway);
}

/// A normalized coordinate in units of 2^-21 texels.
std::int64_t scaled(float x, std::uint32_t extent, AddressMode mode) noexcept {
    constexpr std::int64_t kOne = std::int64_t{1} << kCoordinateBits;
    const auto cut = [&](float value) {
        return static_cast<std::int64_t>(std::floor(static_cast<double>(value) * kOne));
    };
    if (mode == AddressMode::Wrap)
        return cut(x - std::floor(x)) * extent;
    if (mode != AddressMode::Mirror)
        return cut(x) * extent;
    const std::int64_t folded = cut(x) & (2 * kOne - 1);
    return (folded < kOne ? folded : 2 * kOne - folded) * extent;
}

std::int64_t shifted_down(std::int64_t value, int bits) noexcept { return value >> bits; }

Span point_span(const Texture &texture, float x, std::uint32_t extent, AddressMode mode) noexcept {
    x = in_range(x);
    if (!texture.normalized)
        return {.first = static_cast<std::int64_t>(std::floor(x))};
    return {.first = shifted_down(scaled(x, extent, mode), kCoordinateBits)};
}

/// In units of 1/256 texel, from the middle of the first one.
std::int64_t from_middle(const Texture &texture, float x, std::uint32_t extent,
                         AddressMode mode) noexcept {
    if (!texture.normalized)
        return static_cast<std::int64_t>(std::floor(static_cast<double>(x) * 256 + 0.5)) - 128;
    constexpr int kDrop = kCoordinateBits - 8;
    return shifted_down(scaled(x, extent, mode) + (1 << (kDrop - 1)), kDrop) - 128;
}

Span gather_span(const Texture &texture, float x, std::uint32_t extent, AddressMode mode) noexcept {
    return {.first = shifted_down(from_middle(texture, in_range(x), extent, mode), 8)};
}

Span linear_span(const Texture &texture, float x, std::uint32_t extent, AddressMode mode) noexcept {
    x = in_range(x);
    std::int64_t fixed = from_middle(texture, x, extent, mode);
    if (mode == AddressMode::Clamp) // beyond the last texel's middle it is alone
        fixed = std::clamp<std::int64_t>(fixed, 0, (std::int64_t{extent} - 1) * 256);
    const Span span = {.first = shifted_down(fixed, 8),
                       .weight = static_cast<unsigned>(fixed & 255)};
    const bool mirrored =
        mode == AddressMode::Mirror && std::fmod(std::floor(static_cast<double>(x)), 2.0) != 0;
    if (mirrored && span.weight != 0)
        return {.first = span.first + 1, .weight = 256 - span.weight, .step = -1};
    return span;
}

/// To the nearest number of `kept` bits after the leading one, halves away from zero; what has an
/// exponent below `least` as it is.
double round_away(double value, int kept, double least) noexcept {
    if (!(std::abs(value) >= least && std::abs(value) <= std::numeric_limits<float>::max()))
        return value;
    const int drop = 52 - kept;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits += std::uint64_t{1} << (drop - 1);
    bits &= ~((std::uint64_t{1} << drop) - 1);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// The texels of one level around a point, by index.
class Neighbourhood {
  public:
    Neighbourhood(const Texture &texture, const Image &image, std::uint32_t slice) noexcept
        : texture_(texture), image_(image), slice_(slice) {}

    [[nodiscard]] Texel at(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
        x = wrap_index(x, image_.extent[0], texture_.address[0]);
        y = wrap_index(y, image_.extent[1], texture_.address[1]);
        z = texture_.dimensions == 3 ? wrap_index(z, image_.extent[2], texture_.address[2])
                                     : slice_;
        if (x < 0 || y < 0 || z < 0)
            return border_texel(texture_);
        const std::uint64_t address = image_.address +
                                      static_cast<std::uint64_t>(z) * image_.slice +
                                      static_cast<std::uint64_t>(y) * image_.pitch +
                                      static_cast<std::uint64_t>(x) * texture_.texel_bytes();
        return read_texel(texture_, reinterpret_cast<const std::byte *>(address));
    }

  private:
    const Texture &texture_;
    const Image &image_;
    std::uint32_t slice_;
};

std::uint32_t layer_of(const Texture &texture, const Image &image, std::uint32_t layer) noexcept {
    if (!texture.is_layered)
        return 0;
    return std::min(layer, image.extent[2] - 1);
}

struct Spans {
    Span axis[3];
};

template <class MakeSpan>
Spans spans_of(const Texture &texture, const Image &image, const SamplePoint &point,
               MakeSpan &&make) noexcept {
    Spans spans;
    for (unsigned n = 0; n < 3; n++) {
        spans.axis[n] = make(texture, point.coordinate[n], image.extent[n], texture.address[n]);
        spans.axis[n].first += point.offset[n];
    }
    if (texture.is_layered && texture.dimensions == 1)
        spans.axis[1] = {}; // rows are layers: a layer has no neighbours
    return spans;
}

Texel sample_point(const Texture &texture, const Image &image, const SamplePoint &point,
                   std::uint32_t slice) noexcept {
    const Neighbourhood texels(texture, image, slice);
    if (point.is_index) {
        std::int64_t index[3]{};
        for (unsigned n = 0; n < 3; n++) {
            index[n] = point.index[n] + point.offset[n];
            if (index[n] < 0 || (n < texture.dimensions && index[n] >= image.extent[n]))
                return {};
        }
        return texels.at(index[0], index[1], index[2]);
    }
    const Spans spans = spans_of(texture, image, point, point_span);
    return texels.at(spans.axis[0].first, spans.axis[1].first, spans.axis[2].first);
}

/// Weights of up to eight texels, `all` together; bit n of the index: second along axis n.
std::array<unsigned, 8> weights_of(const Spans &spans, unsigned axes, unsigned all) noexcept {
    const unsigned a = spans.axis[0].weight, b = spans.axis[1].weight;
    const unsigned c = axes == 3 ? spans.axis[2].weight : 0;
    const unsigned second_slice = (all * c + 128) >> 8;
    std::array<unsigned, 8> weights{};
    for (unsigned z = 0; z < 2; z++) {
        const unsigned slice = z == 0 ? all - second_slice : second_slice;
        const unsigned second_column = (slice * a + 128) >> 8;
        for (unsigned x = 0; x < 2; x++) {
            const unsigned column = x == 0 ? slice - second_column : second_column;
            const unsigned second_row = (column * b + 127 + x) >> 8;
            weights[4 * z + 2 + x] = second_row;
            weights[4 * z + x] = column - second_row;
        }
    }
    return weights;
}

/// Steps from 0 to 1 of what integers are widened to; 0 for floats.
double steps_of(TexelType type) noexcept {
    switch (type) {
    case TexelType::U8:
    case TexelType::U16:
        return 65535;
    case TexelType::S8:
    case TexelType::S16:
        return 32767;
    default:
        return 0;
    }
}

/// Adds up one channel.
class WeightedSum {
  public:
    void add_integer(TexelType type, std::uint32_t bits, unsigned weight) noexcept {
        const bool is_signed =
            type == TexelType::S8 || type == TexelType::S16 || type == TexelType::S32;
        const auto value =
            is_signed ? std::int64_t{static_cast<std::int32_t>(bits)} : std::int64_t{bits};
        integers_ += value * weight;
    }
    /// Of a sum of integers: rounded to the nearest, halves up; of integers of 32 bits, rounded
    /// down.
    [[nodiscard]] std::uint32_t integer(TexelType type) const noexcept {
        const std::int64_t half = bytes_of(type) == 4 ? 0 : 128;
        return static_cast<std::uint32_t>((integers_ + half) >> 8);
    }
    void add(TexelType type, float value, unsigned weight) noexcept {
        const double steps = steps_of(type);
        const double exact = static_cast<double>(value);
        if (steps == 0)
            sum_ += exact * weight;
        else // 127ths are no whole number of steps
            sum_ += (type == TexelType::S8 ? exact * steps : std::round(exact * steps)) * weight;
    }
    [[nodiscard]] float result(TexelType type) const noexcept {
        const double mean = sum_ / 256;
        if (const double steps = steps_of(type); steps != 0)
            return static_cast<float>(std::round(mean) / steps);
        if (type == TexelType::F16)
            return half_to_float(float_to_half(static_cast<float>(round_away(mean, 10, 0x1p-14))));
        return static_cast<float>(
            round_away(mean, 23, static_cast<double>(std::numeric_limits<float>::min())));
    }

  private:
    double sum_ = 0;
    std::int64_t integers_ = 0;
};

/// Four channels that texels are added to.
struct Sums {
    WeightedSum channel[4];

    void add(const Texture &texture, const Texel &texel, unsigned weight) noexcept {
        for (unsigned n = 0; n < texture.channels; n++)
            if (texture.as_integer)
                channel[n].add_integer(texture.type, texel.bits[n], weight);
            else
                channel[n].add(kind(texture), texel.as_float(n), weight);
    }
    [[nodiscard]] Texel result(const Texture &texture) const noexcept {
        Texel texel;
        for (unsigned n = 0; n < texture.channels; n++)
            if (texture.as_integer)
                texel.bits[n] = channel[n].integer(texture.type);
            else
                texel.set(n, channel[n].result(kind(texture)));
        return texel;
    }
    /// What was sRGB is no whole number of steps any more.
    [[nodiscard]] static TexelType kind(const Texture &texture) noexcept {
        return texture.srgb ? TexelType::F32 : texture.type;
    }
};

void add_linear(Sums &sums, const Texture &texture, const Image &image, const SamplePoint &point,
                std::uint32_t slice, unsigned all) noexcept {
    const Neighbourhood texels(texture, image, slice);
    const Spans spans = spans_of(texture, image, point, linear_span);
    const unsigned axes = texture.dimensions == 3 ? 3 : 2;
    const std::array<unsigned, 8> weights = weights_of(spans, axes, all);
    for (unsigned corner = 0; corner < 1U << axes; corner++) {
        if (weights[corner] == 0)
            continue;
        const auto index = [&](unsigned axis) {
            const Span &span = spans.axis[axis];
            return span.first + ((corner >> axis & 1) != 0 ? span.step : 0);
        };
        sums.add(texture, texels.at(index(0), index(1), index(2)), weights[corner]);
    }
}

/// A read in one level, and its weight (of 256) if it is mixed with another.
struct Place {
    const Image &image;
    SamplePoint point;
    std::uint32_t slice;
};

void add_level(Sums &sums, const Texture &texture, const Place &place, unsigned weight) noexcept {
    if (texture.linear_filter)
        add_linear(sums, texture, place.image, place.point, place.slice, weight);
    else
        sums.add(texture, sample_point(texture, place.image, place.point, place.slice), weight);
}

/// The two levels that are mixed, and how.
struct Levels {
    unsigned first = 0;
    unsigned weight = 0; ///< of the next one, of 256
};

Levels levels_of(const Texture &texture, const TextureOperation &operation, float level) noexcept {
    if (texture.level_count == 1)
        return {};
    if (operation.level == TextureOperation::Level::Base)
        level = 0;
    level =
        std::clamp(in_range(level + texture.level_bias), texture.least_level, texture.most_level);
    const auto last = static_cast<float>(texture.level_count - 1);
    level = std::clamp(level, 0.0F, last);
    if (!texture.linear_between_levels)
        return {.first = static_cast<unsigned>(std::floor(level + 0.5F))};
    const auto fixed = static_cast<unsigned>(level * 256);
    return {.first = fixed >> 8, .weight = fixed & 255};
}

/// A direction becomes a face and a point on it.
struct CubePoint {
    unsigned face = 0;
    float s = 0, t = 0; ///< normalized
};

CubePoint on_cube(float x, float y, float z) noexcept {
    const float ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
    float major = ax, s = x < 0 ? z : -z, t = -y;
    unsigned face = x < 0 ? 1 : 0;
    if (az >= ax && az >= ay) {
        major = az;
        s = z < 0 ? -x : x;
        face = z < 0 ? 5 : 4;
    } else if (ay >= ax) {
        major = ay;
        s = x;
        t = y < 0 ? -z : z;
        face = y < 0 ? 3 : 2;
    }
    if (major == 0)
        return {};
    return {.face = face, .s = (s / major + 1) * 0.5F, .t = (t / major + 1) * 0.5F};
}

Place place_on_cube(const Texture &texture, const Image &image, const SamplePoint &point) noexcept {
    const CubePoint place = on_cube(point.coordinate[0], point.coordinate[1], point.coordinate[2]);
    const std::uint32_t cubes = std::max(1U, image.extent[2] / 6);
    const std::uint32_t cube = texture.is_layered ? std::min(point.layer, cubes - 1) : 0;
    SamplePoint flat = point;
    flat.coordinate[0] = place.s;
    flat.coordinate[1] = place.t;
    flat.coordinate[2] = 0;
    return {image, flat, std::min(cube * 6 + place.face, image.extent[2] - 1)};
}

} // namespace

Texel sample(const Texture &texture, const TextureOperation &operation,
             const SamplePoint &point) noexcept {
    Texture cube; // is read by normalized coordinates, whatever the texture says
    const bool is_cube = operation.is_cube();
    if (is_cube) {
        cube = texture;
        cube.normalized = true;
    }
    const Texture &read = is_cube ? cube : texture;
    const auto place_at = [&](unsigned level) -> Place {
        const Image &image = read.levels[level];
        if (is_cube)
            return place_on_cube(read, image, point);
        return {image, point, layer_of(read, image, point.layer)};
    };
    const Levels levels = levels_of(read, operation, point.level);
    const Place first = place_at(levels.first);
    if (point.is_index || (levels.weight == 0 && !read.linear_filter))
        return sample_point(read, first.image, first.point, first.slice);
    Sums sums;
    add_level(sums, read, first, 256 - levels.weight);
    if (levels.weight != 0)
        add_level(sums, read, place_at(levels.first + 1), levels.weight);
    return sums.result(read);
}

Texel gather(const Texture &texture, const TextureOperation &operation,
             const SamplePoint &point) noexcept {
    const Image &image = texture.levels[0];
    const Neighbourhood texels(texture, image, layer_of(texture, image, point.layer));
    const Spans spans = spans_of(texture, image, point, gather_span);
    const std::int64_t x = spans.axis[0].first, y = spans.axis[1].first;
    Texel result;
    // Counter-clockwise from the lower left one.
    result.bits[0] = texels.at(x, y + 1, 0).bits[operation.component];
    result.bits[1] = texels.at(x + 1, y + 1, 0).bits[operation.component];
    result.bits[2] = texels.at(x + 1, y, 0).bits[operation.component];
    result.bits[3] = texels.at(x, y, 0).bits[operation.component];
    return result;
}

float level_of_gradients(const Texture &texture, const float *dx, const float *dy,
                         unsigned axes) noexcept {
    const Image &image = texture.levels[0];
    double across = 0, down = 0;
    for (unsigned n = 0; n < axes; n++) {
        const double scale = texture.normalized ? image.extent[n] : 1;
        across += dx[n] * scale * (dx[n] * scale);
        down += dy[n] * scale * (dy[n] * scale);
    }
    const double longest = std::max(across, down);
    return longest > 0 ? static_cast<float>(0.5 * std::log2(longest)) : -kFarAway;
}

} // namespace softcuda::rt
