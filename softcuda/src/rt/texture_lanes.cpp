// texture_lanes.cpp -- the rules of texture_sample.cpp in loops over the lanes, which the compiler
// turns into vectors.
//
// The numbers are the same, bit for bit: coordinates are computed in doubles that hold the
// fixed-point numbers of texture_sample.cpp exactly, and sums of integers are exact in any type.
// Lanes that do not execute the instruction read some texel of the texture, and get zeros.
#include "rt/texture_lanes.h"

#include "rt/texture_texel.h"
#include "target/clones.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace softcuda::rt {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kMostChannels = 4;
constexpr float kFarAway = 1073741824.0F;

template <class T> struct alignas(64) Each {
    T lane[kLanes];

    T &operator[](unsigned n) noexcept { return lane[n]; }
    const T &operator[](unsigned n) const noexcept { return lane[n]; }
};

/// The two texels along one axis; -1: the border. The second one has `weight` of 256.
struct Axis {
    Each<std::int32_t> first, second, weight;
};

/// Of numbers below 2^51, without a call: the sum has no bits after the point.
double floor_of(double value) noexcept {
    constexpr double kNoFraction = 0x1.8p52;
    const double nearest = value + kNoFraction - kNoFraction;
    return nearest - (nearest > value ? 1 : 0);
}

/// Of numbers that fit.
std::int32_t floor_of(float value) noexcept {
    const auto cut = static_cast<std::int32_t>(value);
    return cut - (static_cast<float>(cut) > value ? 1 : 0);
}

float in_range(float value) noexcept {
    value = value != value ? 0 : value;
    value = value < -kFarAway ? -kFarAway : value;
    return value > kFarAway ? kFarAway : value;
}

/// Coordinates in units of 2^-21 texels, if they are normalized. Those far outside become some that
/// are near, and outside of all texels, too: their number of texels stays exact.
void scale(const Each<float> &x, std::uint32_t extent, AddressMode mode,
           Each<double> &scaled) noexcept {
    constexpr double kOne = 2097152;
    const double texels = extent;
    if (mode == AddressMode::Wrap) {
        for (unsigned n = 0; n < kLanes; n++)
            scaled[n] =
                floor_of(static_cast<double>(x[n] - static_cast<float>(floor_of(x[n]))) * kOne) *
                texels;
    } else if (mode == AddressMode::Mirror) {
        for (unsigned n = 0; n < kLanes; n++) {
            const double value = x[n];
            const double cut = floor_of((value - 2 * floor_of(value / 2)) * kOne);
            scaled[n] = (cut < kOne ? cut : 2 * kOne - cut) * texels;
        }
    } else {
        for (unsigned n = 0; n < kLanes; n++) {
            float near = x[n] < -2.0F ? -2.0F : x[n];
            near = near > 3.0F ? 3.0F : near;
            scaled[n] = floor_of(static_cast<double>(near) * kOne) * texels;
        }
    }
}

/// Applies the address mode.
void settle(Each<std::int32_t> &index, std::uint32_t extent, AddressMode mode) noexcept {
    const auto n = static_cast<std::int32_t>(extent);
    switch (mode) {
    case AddressMode::Wrap: // of normalized coordinates: from -1 to n
        for (std::int32_t &at : index.lane)
            at = at < 0 ? at + n : at >= n ? at - n : at;
        break;
    case AddressMode::Mirror: // from -1 to n + 1
        for (std::int32_t &at : index.lane) {
            const std::int32_t folded = at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
            at = folded < 0 ? 0 : folded >= n ? n - 1 : folded;
        }
        break;
    case AddressMode::Clamp:
        for (std::int32_t &at : index.lane) {
            at = at < 0 ? 0 : at;
            at = at > n - 1 ? n - 1 : at;
        }
        break;
    case AddressMode::Border:
        for (std::int32_t &at : index.lane)
            at = at < 0 || at >= n ? -1 : at;
        break;
    }
}

void point_axis(const Texture &texture, const Each<float> &x, std::uint32_t extent,
                AddressMode mode, Axis &axis) noexcept {
    if (texture.normalized) {
        Each<double> scaled;
        scale(x, extent, mode, scaled);
        for (unsigned n = 0; n < kLanes; n++)
            axis.first[n] = static_cast<std::int32_t>(floor_of(scaled[n] * 0x1p-21));
    } else {
        for (unsigned n = 0; n < kLanes; n++)
            axis.first[n] = floor_of(x[n]);
    }
    settle(axis.first, extent, mode);
}

void linear_axis(const Texture &texture, const Each<float> &x, std::uint32_t extent,
                 AddressMode mode, Axis &axis) noexcept {
    Each<std::int32_t> fixed; // in units of 1/256 texel, from the middle of the first one
    if (texture.normalized) {
        Each<double> scaled;
        scale(x, extent, mode, scaled);
        for (unsigned n = 0; n < kLanes; n++)
            fixed[n] = static_cast<std::int32_t>(floor_of((scaled[n] + 0x1p12) * 0x1p-13)) - 128;
    } else {
        const float beyond = static_cast<float>(extent) + 1; // all there is the same texel
        for (unsigned n = 0; n < kLanes; n++) {
            float near = x[n] < -2.0F ? -2.0F : x[n];
            near = near > beyond ? beyond : near;
            near *= 256;
            // The rest after the point is exact, or rounded without passing one half.
            const std::int32_t whole = floor_of(near);
            const float rest = near - static_cast<float>(whole);
            fixed[n] = whole + (rest >= 0.5F ? 1 : 0) - 128;
        }
    }
    if (mode == AddressMode::Clamp) { // beyond the last texel's middle it is alone
        const auto last = static_cast<std::int32_t>(extent - 1) * 256;
        for (std::int32_t &at : fixed.lane) {
            at = at < 0 ? 0 : at;
            at = at > last ? last : at;
        }
    }
    for (unsigned n = 0; n < kLanes; n++) {
        axis.first[n] = fixed[n] >> 8;
        axis.weight[n] = fixed[n] & 255;
        axis.second[n] = axis.first[n] + 1;
    }
    if (mode == AddressMode::Mirror)
        for (unsigned n = 0; n < kLanes; n++) {
            const double part = floor_of(static_cast<double>(x[n]));
            const bool turned = part - 2 * floor_of(part / 2) != 0 && axis.weight[n] != 0;
            const std::int32_t first = axis.first[n];
            axis.first[n] = turned ? first + 1 : first;
            axis.second[n] = turned ? first : first + 1;
            axis.weight[n] = turned ? 256 - axis.weight[n] : axis.weight[n];
        }
    settle(axis.first, extent, mode);
    settle(axis.second, extent, mode);
}

using Channels = Each<std::uint32_t>[kMostChannels];

template <class T>
void read_as(const std::byte *base, const Each<std::uint32_t> &places, unsigned channels,
             Channels &values) noexcept {
    const auto read = [&](auto count) {
        for (unsigned n = 0; n < kLanes; n++)
            for (unsigned c = 0; c < count; c++) {
                T value;
                std::memcpy(&value, base + places[n] + c * sizeof(T), sizeof value);
                values[c][n] = static_cast<std::uint32_t>(value);
            }
    };
    if (channels == 1)
        read(std::integral_constant<unsigned, 1>{});
    else if (channels == 2)
        read(std::integral_constant<unsigned, 2>{});
    else
        read(std::integral_constant<unsigned, 4>{});
}

/// The bits of texels, widened to 32.
void read_texels(const Texture &texture, const std::byte *base, const Each<std::uint32_t> &places,
                 Channels &values) noexcept {
    switch (texture.type) {
    case TexelType::U8:
        return read_as<std::uint8_t>(base, places, texture.channels, values);
    case TexelType::S8:
        return read_as<std::int8_t>(base, places, texture.channels, values);
    case TexelType::U16:
    case TexelType::F16:
        return read_as<std::uint16_t>(base, places, texture.channels, values);
    case TexelType::S16:
        return read_as<std::int16_t>(base, places, texture.channels, values);
    default:
        return read_as<std::uint32_t>(base, places, texture.channels, values);
    }
}

std::uint32_t bits_of(float value) noexcept {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of(std::uint32_t bits) noexcept {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::uint32_t widened_half(std::uint32_t half) noexcept {
    const std::uint32_t magnitude = half & 0x7fffU;
    const std::uint32_t usual = (magnitude << 13) + (112U << 23);
    const std::uint32_t special = 0x7f800000U | (magnitude & 0x3ffU) << 13;
    const std::uint32_t small =
        bits_of(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
    const std::uint32_t bits = magnitude >= 0x7c00U ? special : magnitude >= 0x400U ? usual : small;
    return bits | (half & 0x8000U) << 16;
}

/// Bits of texels to bits of floats; integers become [0, 1] or [-1, 1].
void to_floats(TexelType type, Each<std::uint32_t> &values) noexcept {
    const auto divide = [&](float steps) {
        for (std::uint32_t &value : values.lane)
            value = bits_of(static_cast<float>(static_cast<std::int32_t>(value)) / steps);
    };
    const auto at_least = [&] {
        for (std::uint32_t &value : values.lane)
            value = bits_of(float_of(value) < -1.0F ? -1.0F : float_of(value));
    };
    switch (type) {
    case TexelType::U8:
        return divide(255);
    case TexelType::U16:
        return divide(65535);
    case TexelType::S8:
        divide(127);
        return at_least();
    case TexelType::S16:
        divide(32767);
        return at_least();
    case TexelType::F16:
        for (std::uint32_t &value : values.lane)
            value = widened_half(value);
        return;
    default:
        return;
    }
}

/// To the nearest number with `kept` bits after the leading one, halves away from zero; what is
/// below `least` as it is.
template <int kept> double round_away(double value, double least) noexcept {
    constexpr int kDrop = 52 - kept;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits += std::uint64_t{1} << (kDrop - 1);
    bits &= ~((std::uint64_t{1} << kDrop) - 1);
    double rounded = 0;
    std::memcpy(&rounded, &bits, sizeof rounded);
    const double magnitude = std::fabs(value);
    const bool is_usual =
        magnitude >= least && magnitude <= static_cast<double>(std::numeric_limits<float>::max());
    return is_usual ? rounded : value;
}

/// Reads texels of one texture, for lanes that execute an instruction.
class WarpFetch {
  public:
    WarpFetch(const Texture &texture, const TextureOperation &operation,
              const LaneArrays &lanes) noexcept
        : texture_(texture), operation_(operation), lanes_(lanes), image_(texture.levels[0]),
          base_(reinterpret_cast<const std::byte *>(image_.address)) {
        for (unsigned n = 0; n < kLanes; n++)
            active_[n] = (lanes.mask >> n & 1) != 0 ? ~0U : 0;
    }

    void run() noexcept {
        if (texture_.is_linear_memory || !operation_.float_coordinates)
            return by_index();
        Each<float> x[3];
        for (unsigned axis = 0; axis < 3; axis++) {
            if (axis < operation_.axes())
                std::memcpy(&x[axis], lanes_.operands[axis], sizeof x[axis]);
            else
                std::memset(&x[axis], 0, sizeof x[axis]);
            for (float &at : x[axis].lane)
                at = in_range(at);
        }
        return texture_.linear_filter ? linear(x) : nearest(x);
    }

  private:
    [[nodiscard]] unsigned dimensions() const noexcept { return texture_.dimensions == 3 ? 3 : 2; }
    [[nodiscard]] bool reads_integers() const noexcept {
        return texture_.as_integer || texture_.type == TexelType::U32 ||
               texture_.type == TexelType::S32;
    }
    [[nodiscard]] std::uint32_t bytes_along(unsigned axis) const noexcept {
        return static_cast<std::uint32_t>(axis == 0   ? texture_.texel_bytes()
                                          : axis == 1 ? image_.pitch
                                                      : image_.slice);
    }

    /// Adds where `index` is along an axis; the border counts as the first texel.
    void add_place(Each<std::uint32_t> &places, const Each<std::int32_t> &index,
                   unsigned axis) const noexcept {
        const std::uint32_t step = bytes_along(axis);
        for (unsigned n = 0; n < kLanes; n++)
            places[n] += static_cast<std::uint32_t>(index[n] < 0 ? 0 : index[n]) * step;
    }

    void give(Channels &values) const noexcept {
        for (unsigned c = 0; c < texture_.channels; c++) {
            auto *result = static_cast<std::uint32_t *>(lanes_.results[c]);
            for (unsigned n = 0; n < kLanes; n++)
                result[n] = values[c][n] & active_[n];
        }
    }

    void by_index() noexcept {
        Each<std::uint32_t> places{};
        const unsigned axes = texture_.is_linear_memory ? 1 : operation_.axes();
        for (unsigned axis = 0; axis < axes; axis++) {
            Each<std::int32_t> index;
            if (operation_.float_coordinates) {
                Each<float> x;
                std::memcpy(&x, lanes_.operands[axis], sizeof x);
                for (unsigned n = 0; n < kLanes; n++)
                    index[n] = floor_of(in_range(x[n]));
            } else {
                std::memcpy(&index, lanes_.operands[axis], sizeof index);
            }
            for (unsigned n = 0; n < kLanes; n++) {
                const bool inside = static_cast<std::uint32_t>(index[n]) < image_.extent[axis];
                active_[n] = inside ? active_[n] : 0; // outside are zeros
                index[n] = inside ? index[n] : 0;
            }
            add_place(places, index, axis);
        }
        Channels values;
        read_texels(texture_, base_, places, values);
        if (!reads_integers())
            for (unsigned c = 0; c < texture_.channels; c++)
                to_floats(texture_.type, values[c]);
        give(values);
    }

    void nearest(const Each<float> (&x)[3]) noexcept {
        Each<std::uint32_t> places{};
        Each<std::int32_t> border{};
        for (unsigned axis = 0; axis < dimensions(); axis++) {
            Axis along;
            point_axis(texture_, x[axis], image_.extent[axis], texture_.address[axis], along);
            add_place(places, along.first, axis);
            for (unsigned n = 0; n < kLanes; n++)
                border[n] |= along.first[n];
        }
        Channels values;
        read_texels(texture_, base_, places, values);
        const Texel outside = border_texel(texture_);
        for (unsigned c = 0; c < texture_.channels; c++) {
            if (!reads_integers())
                to_floats(texture_.type, values[c]);
            const std::uint32_t beyond = outside.bits[c];
            for (unsigned n = 0; n < kLanes; n++)
                values[c][n] = border[n] < 0 ? beyond : values[c][n];
        }
        give(values);
    }

    /// The sums of the texels times their weights. `convert` gives the bits of a number of the same
    /// width as `outside`, the border's, which `widen` makes a Sum.
    template <class Sum, class Convert, class Widen>
    void add_corners(const Axis *axes, const std::uint32_t (&outside)[kMostChannels],
                     Each<Sum> (&sums)[kMostChannels], Convert convert, Widen widen) noexcept {
        const unsigned corners = 1U << dimensions();
        for (unsigned c = 0; c < texture_.channels; c++)
            for (Sum &sum : sums[c].lane)
                sum = 0;
        for (unsigned corner = 0; corner < corners; corner++) {
            Each<std::uint32_t> places{};
            Each<std::int32_t> border{}, weight;
            for (unsigned axis = 0; axis < dimensions(); axis++) {
                const Each<std::int32_t> &index =
                    (corner >> axis & 1) != 0 ? axes[axis].second : axes[axis].first;
                add_place(places, index, axis);
                for (unsigned n = 0; n < kLanes; n++)
                    border[n] |= index[n];
            }
            weigh(axes, corner, weight);
            Channels values;
            read_texels(texture_, base_, places, values);
            for (unsigned c = 0; c < texture_.channels; c++) {
                Each<std::uint32_t> chosen; // 0 without weight, whatever the texel is
                const std::uint32_t beyond = outside[c];
                for (unsigned n = 0; n < kLanes; n++) {
                    const std::uint32_t bits = convert(values[c][n]);
                    chosen[n] = (border[n] < 0 ? beyond : bits) & (weight[n] != 0 ? ~0U : 0);
                }
                for (unsigned n = 0; n < kLanes; n++)
                    sums[c][n] += widen(chosen[n]) * static_cast<Sum>(weight[n]);
            }
        }
    }

    /// 256 is shared out between the slices, the columns, and the rows (texture_sample.cpp).
    void weigh(const Axis *axes, unsigned corner, Each<std::int32_t> &weight) const noexcept {
        const bool second_column = (corner & 1) != 0, second_row = (corner & 2) != 0;
        for (unsigned n = 0; n < kLanes; n++) {
            std::int32_t slice = 256;
            if (dimensions() == 3)
                slice = (corner & 4) != 0 ? axes[2].weight[n] : 256 - axes[2].weight[n];
            const std::int32_t part = (slice * axes[0].weight[n] + 128) >> 8;
            const std::int32_t column = second_column ? part : slice - part;
            const std::int32_t row =
                (column * axes[1].weight[n] + (second_column ? 128 : 127)) >> 8;
            weight[n] = second_row ? row : column - row;
        }
    }

    void linear(const Each<float> (&x)[3]) noexcept {
        Axis axes[3];
        for (unsigned axis = 0; axis < dimensions(); axis++)
            linear_axis(texture_, x[axis], image_.extent[axis], texture_.address[axis], axes[axis]);
        const Texel border = border_texel(texture_);
        switch (texture_.type) {
        case TexelType::U8:
            return steps(axes, border, 65535, [](std::uint32_t bits) { return bits * 257; });
        case TexelType::U16:
            return steps(axes, border, 65535, [](std::uint32_t bits) { return bits; });
        case TexelType::S16:
            return steps(axes, border, 32767, [](std::uint32_t bits) {
                const auto value = static_cast<std::int32_t>(bits);
                return static_cast<std::uint32_t>(value < -32767 ? -32767 : value);
            });
        case TexelType::F16:
            return floats(axes, border, widened_half);
        default:
            return floats(axes, border, [](std::uint32_t bits) { return bits; });
        }
    }

    /// Of integers, which become `count` steps from 0 to 1.
    template <class Convert>
    void steps(const Axis *axes, const Texel &border, float count, Convert convert) noexcept {
        std::uint32_t outside[kMostChannels];
        for (unsigned c = 0; c < kMostChannels; c++)
            outside[c] = static_cast<std::uint32_t>(static_cast<std::int32_t>(
                std::round(static_cast<double>(border.as_float(c)) * static_cast<double>(count))));
        Each<std::int32_t> sums[kMostChannels];
        add_corners(axes, outside, sums, convert,
                    [](std::uint32_t bits) { return static_cast<std::int32_t>(bits); });
        Channels values;
        for (unsigned c = 0; c < texture_.channels; c++)
            for (unsigned n = 0; n < kLanes; n++) {
                const std::int32_t sum = sums[c][n];
                const std::int32_t mean = sum < 0 ? -((128 - sum) >> 8) : (sum + 128) >> 8;
                values[c][n] = bits_of(static_cast<float>(mean) / count);
            }
        give(values);
    }

    template <class Convert>
    void floats(const Axis *axes, const Texel &border, Convert convert) noexcept {
        Each<double> sums[kMostChannels];
        add_corners(axes, border.bits, sums, convert,
                    [](std::uint32_t bits) { return static_cast<double>(float_of(bits)); });
        Channels values;
        for (unsigned c = 0; c < texture_.channels; c++) {
            if (texture_.type == TexelType::F16) {
                for (unsigned n = 0; n < kLanes; n++)
                    values[c][n] = bits_of(half_to_float(float_to_half(
                        static_cast<float>(round_away<10>(sums[c][n] / 256, 0x1p-14)))));
                continue;
            }
            for (unsigned n = 0; n < kLanes; n++)
                values[c][n] = bits_of(static_cast<float>(round_away<23>(
                    sums[c][n] / 256, static_cast<double>(std::numeric_limits<float>::min()))));
        }
        give(values);
    }

    const Texture &texture_;
    const TextureOperation &operation_;
    const LaneArrays &lanes_;
    const Image &image_;
    const std::byte *base_;
    Each<std::uint32_t> active_; ///< all bits, or none
};

bool is_common(const Texture &texture, const TextureOperation &operation) noexcept {
    if (operation.kind != TextureOperation::Kind::Fetch || operation.is_layered() ||
        operation.is_cube() || operation.has_offsets || operation.half_results ||
        texture.is_surface || texture.is_layered || texture.level_count != 1 || texture.srgb ||
        texture.channels == 3 || !has_short_places(texture.levels[0]))
        return false;
    if (texture.is_linear_memory)
        return true;
    if (operation.axes() != texture.dimensions)
        return false;
    if (!operation.float_coordinates)
        return true;
    for (unsigned axis = 0; axis < 3; axis++) // otherwise an index may need a division
        if (!texture.normalized && (texture.address[axis] == AddressMode::Wrap ||
                                    texture.address[axis] == AddressMode::Mirror))
            return false;
    const bool integers =
        texture.as_integer || texture.type == TexelType::U32 || texture.type == TexelType::S32;
    return !texture.linear_filter || (!integers && texture.type != TexelType::S8);
}

// Each copy has its own code of all that it calls.
SCU_HALF_VECTOR_CLONES [[gnu::flatten]] void
fetch(const Texture &texture, const TextureOperation &operation, const LaneArrays &lanes) noexcept {
    WarpFetch(texture, operation, lanes).run();
}

} // namespace

bool fetch_lanes(const Texture &texture, const TextureOperation &operation,
                 const LaneArrays &lanes) noexcept {
    if (!is_common(texture, operation))
        return false;
    fetch(texture, operation, lanes);
    return true;
}

} // namespace softcuda::rt
