// surface_lanes.cpp -- accesses to surfaces by all lanes of a warp, all of which are inside.
#include "rt/texture_lanes.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace softcuda::rt {
namespace {

constexpr unsigned kLanes = 32;

/// The places of a surface that all lanes access.
struct SurfacePlaces {
    std::byte *base;
    std::array<std::uint32_t, kLanes> of;
    bool adjacent; ///< those of all 32 lanes, one after another
};

/// False if a lane's place is elsewhere.
bool find_places(const Texture &surface, const TextureOperation &operation, const LaneArrays &lanes,
                 SurfacePlaces &places) noexcept {
    const Image &image = surface.levels[0];
    const unsigned width = operation.bytes * operation.elements, texel = surface.texel_bytes();
    if (operation.formatted || operation.is_layered() || operation.is_cube() ||
        !has_short_places(image))
        return false;
    const std::uint32_t row = image.extent[0] * texel;
    if (row < width)
        return false;
    // Local arrays and sizes: stores to them cannot change the operands, so the loops become
    // vectors.
    std::array<std::uint32_t, kLanes> of;
    std::uint32_t wrong[kLanes];
    const auto *x = static_cast<const std::uint32_t *>(lanes.operands[0]);
    for (unsigned n = 0; n < kLanes; n++) {
        wrong[n] = (x[n] & (width - 1)) | (x[n] > row - width ? 1 : 0);
        of[n] = x[n];
    }
    for (unsigned axis = 1; axis < operation.axes(); axis++) {
        const auto *index = static_cast<const std::uint32_t *>(lanes.operands[axis]);
        const auto step = static_cast<std::uint32_t>(axis == 1 ? image.pitch : image.slice);
        const std::uint32_t extent = image.extent[axis];
        for (unsigned n = 0; n < kLanes; n++) {
            wrong[n] |= index[n] >= extent ? 1 : 0;
            of[n] += index[n] * step;
        }
    }
    std::uint32_t any = 0, gaps = ~lanes.mask;
    for (unsigned n = 0; n < kLanes; n++) {
        any |= (lanes.mask >> n & 1) != 0 ? wrong[n] : 0;
        gaps |= of[n] - of[0] - n * width;
    }
    places.base = reinterpret_cast<std::byte *>(image.address);
    places.of = of;
    places.adjacent = gaps == 0;
    return any == 0;
}

/// Calls each(element, place, lane) for the elements of the lanes.
template <class Body>
void for_each_element(const TextureOperation &operation, const LaneArrays &lanes,
                      const SurfacePlaces &places, Body each) noexcept {
    for (std::uint32_t left = lanes.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        for (unsigned n = 0; n < operation.elements; n++)
            each(n, places.base + places.of[lane] + n * operation.bytes, lane);
    }
}

/// Calls with(T) for the type of elements of this size.
template <class With> void with_element(unsigned bytes, With with) noexcept {
    switch (bytes) {
    case 1:
        return with(std::uint8_t{});
    case 2:
        return with(std::uint16_t{});
    case 4:
        return with(std::uint32_t{});
    default:
        return with(std::uint64_t{});
    }
}

} // namespace

bool load_lanes(const Texture &surface, const TextureOperation &operation,
                const LaneArrays &lanes) noexcept {
    SurfacePlaces places;
    if (!find_places(surface, operation, lanes, places))
        return false;
    with_element(operation.bytes, [&](auto element) {
        using T = decltype(element);
        if (places.adjacent && operation.elements == 1) {
            std::memcpy(lanes.results[0], places.base + places.of[0], sizeof(T) * kLanes);
            return;
        }
        for_each_element(
            operation, lanes, places, [&](unsigned n, const std::byte *place, unsigned lane) {
                std::memcpy(static_cast<T *>(lanes.results[n]) + lane, place, sizeof(T));
            });
    });
    return true;
}

bool store_lanes(const Texture &surface, const TextureOperation &operation,
                 const LaneArrays &lanes) noexcept {
    SurfacePlaces places;
    if (!find_places(surface, operation, lanes, places))
        return false;
    const void *const *values = lanes.operands + operation.coordinates();
    with_element(operation.bytes, [&](auto element) {
        using T = decltype(element);
        if (places.adjacent && operation.elements == 1) {
            std::memcpy(places.base + places.of[0], values[0], sizeof(T) * kLanes);
            return;
        }
        for_each_element(
            operation, lanes, places, [&](unsigned n, std::byte *place, unsigned lane) {
                std::memcpy(place, static_cast<const T *>(values[n]) + lane, sizeof(T));
            });
    });
    return true;
}

} // namespace softcuda::rt
