// texture_calls.cpp -- scu_texture: the function that generated code calls for a texture or surface
// instruction.
#include "rt/guard.h"
#include "rt/kernel_abi.h"
#include "rt/texture_lanes.h"
#include "rt/texture_sample.h"
#include "rt/texture_surface.h"
#include "rt/watch.h"

#include <array>
#include <cstring>
#include <optional>

using namespace softcuda;
using namespace softcuda::rt;

namespace {

/// The operands and results of one instruction: an array of 32 for each.
struct Lanes {
    const void *const *operands;
    void *const *results;
    unsigned lane;

    [[nodiscard]] std::uint32_t word(unsigned operand) const noexcept {
        return static_cast<const std::uint32_t *>(operands[operand])[lane];
    }
    [[nodiscard]] float number(unsigned operand) const noexcept {
        return static_cast<const float *>(operands[operand])[lane];
    }
    void give(unsigned result, std::uint32_t value) const noexcept {
        static_cast<std::uint32_t *>(results[result])[lane] = value;
    }
};

[[noreturn]] void fail(const FaultReport &reason, unsigned lane) {
    FaultReport report = reason;
    report.lane = static_cast<int>(lane);
    Guard::fail(report);
}

/// A handle is a small number, or the address of a .texref or .surfref variable that holds one.
const Texture *look_up(std::uint64_t handle) noexcept {
    const Texture *texture = find_texture(handle);
    std::uint64_t held = 0;
    if (!texture && handle > UINT32_MAX && guarded_copy(&held, handle, sizeof held))
        texture = find_texture(held);
    return texture;
}

const Texture &texture_of(std::uint64_t handle, unsigned lane) {
    const Texture *texture = look_up(handle);
    if (!texture)
        fail({.kind = Fault::NoTexture, .address_known = true, .address = handle}, lane);
    return *texture;
}

SamplePoint point_of(const Texture &texture, const TextureOperation &operation,
                     const Lanes &lanes) noexcept {
    SamplePoint point;
    unsigned next = 0;
    if (operation.is_layered())
        point.layer = lanes.word(next++);
    point.is_index = !operation.float_coordinates;
    for (unsigned axis = 0; axis < operation.axes(); axis++, next++) {
        if (point.is_index)
            point.index[axis] = static_cast<std::int32_t>(lanes.word(next));
        else
            point.coordinate[axis] = lanes.number(next);
    }
    if (operation.level == TextureOperation::Level::Explicit) {
        point.level = point.is_index
                          ? static_cast<float>(static_cast<std::int32_t>(lanes.word(next)))
                          : lanes.number(next);
        next++;
    } else if (operation.level == TextureOperation::Level::Gradient) {
        float gradients[2][3]{};
        for (auto &gradient : gradients)
            for (unsigned axis = 0; axis < operation.axes(); axis++)
                gradient[axis] = lanes.number(next++);
        point.level = level_of_gradients(texture, gradients[0], gradients[1], operation.axes());
    }
    if (operation.has_offsets)
        for (unsigned axis = 0; axis < operation.axes(); axis++)
            point.offset[axis] = static_cast<std::int32_t>(lanes.word(next++));
    return point;
}

/// Memory that is read by index: elements outside read as zero.
Texel read_linear(const Texture &texture, std::int64_t index) noexcept {
    const Image &image = texture.levels[0];
    if (index < 0 || index >= image.extent[0])
        return {};
    const std::uint64_t address =
        image.address + static_cast<std::uint64_t>(index) * texture.texel_bytes();
    return read_texel(texture, reinterpret_cast<const std::byte *>(address));
}

void fetch(const Texture &texture, const TextureOperation &operation, const Lanes &lanes) noexcept {
    const SamplePoint point = point_of(texture, operation, lanes);
    Texel texel;
    if (texture.is_linear_memory)
        texel = read_linear(texture, point.is_index
                                         ? point.index[0]
                                         : static_cast<std::int64_t>(std::floor(
                                               std::clamp(point.coordinate[0], -1.0F, 0x1p30F))));
    else if (operation.kind == TextureOperation::Kind::Gather)
        texel = gather(texture, operation, point);
    else
        texel = sample(texture, operation, point);
    if (!operation.half_results) {
        for (unsigned channel = 0; channel < 4; channel++)
            lanes.give(channel, texel.bits[channel]);
        return;
    }
    for (unsigned pair = 0; pair < 2; pair++)
        lanes.give(pair, float_to_half(texel.as_float(2 * pair)) |
                             std::uint32_t{float_to_half(texel.as_float(2 * pair + 1))} << 16);
}

std::byte *place_of(const Texture &surface, const TextureOperation &operation, const Lanes &lanes) {
    std::int32_t coordinates[4]{};
    for (unsigned n = 0; n < operation.coordinates(); n++)
        coordinates[n] = static_cast<std::int32_t>(lanes.word(n));
    std::optional<Fault> failed;
    std::byte *place = surface_place(surface, operation, coordinates, failed);
    if (failed == Fault::MisalignedAddress)
        fail({.kind = Fault::MisalignedAddress,
              .detail = "a surface's coordinate in bytes is no multiple of the access's size"},
             lanes.lane);
    if (failed)
        fail({.kind = *failed, .detail = "an access outside a surface"}, lanes.lane);
    return place;
}

void load(const Texture &surface, const TextureOperation &operation, const Lanes &lanes) {
    const std::byte *place = place_of(surface, operation, lanes);
    if (!place)
        return; // results are zeros already
    for (unsigned n = 0; n < operation.elements; n++)
        std::memcpy(static_cast<std::byte *>(lanes.results[n]) + lanes.lane * operation.bytes,
                    place + n * operation.bytes, operation.bytes);
}

void store(const Texture &surface, const TextureOperation &operation, const Lanes &lanes) {
    std::byte *place = place_of(surface, operation, lanes);
    if (!place)
        return;
    const unsigned first = operation.coordinates();
    if (operation.formatted) {
        std::uint32_t channels[4]{};
        for (unsigned n = 0; n < operation.elements; n++)
            channels[n] = lanes.word(first + n);
        return store_formatted(surface, place, channels, operation.elements);
    }
    for (unsigned n = 0; n < operation.elements; n++)
        std::memcpy(place + n * operation.bytes,
                    static_cast<const std::byte *>(lanes.operands[first + n]) +
                        lanes.lane * operation.bytes,
                    operation.bytes);
}

void reduce(const Texture &surface, const TextureOperation &operation, const Lanes &lanes) {
    std::byte *place = place_of(surface, operation, lanes);
    if (!place)
        return;
    std::uint64_t value = 0;
    std::memcpy(&value,
                static_cast<const std::byte *>(lanes.operands[operation.coordinates()]) +
                    lanes.lane * operation.bytes,
                operation.bytes);
    reduce_surface(place, operation, value);
}

void run_lane(const Texture &texture, const TextureOperation &operation, const Lanes &lanes) {
    switch (operation.kind) {
    case TextureOperation::Kind::Fetch:
    case TextureOperation::Kind::Gather:
        return fetch(texture, operation, lanes);
    case TextureOperation::Kind::QueryTexture:
    case TextureOperation::Kind::QuerySurface: {
        const bool has_level = operation.level == TextureOperation::Level::Explicit;
        return lanes.give(0,
                          query_texture(texture, operation.query, has_level ? lanes.word(0) : 0));
    }
    case TextureOperation::Kind::Load:
        return load(texture, operation, lanes);
    case TextureOperation::Kind::Store:
        return store(texture, operation, lanes);
    case TextureOperation::Kind::Reduce:
        return reduce(texture, operation, lanes);
    }
}

/// The accesses of a warp's lanes to texels, which are reported together.
class WatchedTexels {
  public:
    explicit WatchedTexels(std::uint32_t bytes) : bytes_(bytes) {}

    void add(unsigned number, unsigned lane, std::uint64_t address) noexcept {
        masks_[number] |= 1u << lane;
        addresses_[number][lane] = address;
    }
    void report(BlockWatch &watch, WatchSite &site) const {
        for (unsigned number = 0; number < TexelReads::kMost && masks_[number] != 0; ++number)
            notify_watch(watch, [&](BlockWatch &block) {
                block.texels(site, masks_[number], addresses_[number].data(), bytes_);
            });
    }

  private:
    std::uint32_t bytes_;
    std::array<std::uint32_t, TexelReads::kMost> masks_{};
    std::array<std::array<std::uint64_t, kWarpSize>, TexelReads::kMost> addresses_;
};

/// Runs the instruction for lanes with one handle, and reports reads after they were made, and
/// other accesses before.
void run_watched(const Texture &object, const TextureOperation &operation, std::uint32_t mask,
                 BlockWatch &watch, WatchSite *sites, Lanes lanes) {
    using Kind = TextureOperation::Kind;
    const bool samples = operation.kind == Kind::Fetch || operation.kind == Kind::Gather;
    const bool accesses = operation.kind == Kind::Load || operation.kind == Kind::Store ||
                          operation.kind == Kind::Reduce;
    const bool whole_texels = samples || operation.formatted;
    WatchedTexels texels(whole_texels ? object.texel_bytes()
                                      : operation.bytes * operation.elements);
    Texture texture = object;
    TexelReads reads;
    texture.reads = &reads;
    const auto each_lane = [&](auto &&run) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1) {
            lanes.lane = static_cast<unsigned>(__builtin_ctz(left));
            run();
        }
    };
    if (accesses) {
        each_lane([&] {
            if (const std::byte *place = place_of(texture, operation, lanes))
                texels.add(0, lanes.lane, reinterpret_cast<std::uint64_t>(place));
        });
        const WatchKind kind = operation.kind == Kind::Load    ? WatchKind::Load
                               : operation.kind == Kind::Store ? WatchKind::Store
                                                               : WatchKind::Atomic;
        texels.report(watch, sites[static_cast<unsigned>(kind)]);
    }
    each_lane([&] {
        reads.count = 0;
        run_lane(texture, operation, lanes);
        for (unsigned number = 0; number < reads.count; ++number)
            texels.add(number, lanes.lane, reads.addresses[number]);
    });
    if (samples)
        texels.report(watch, sites[static_cast<unsigned>(WatchKind::Load)]);
}

/// The handle of all lanes in the mask, if it is the same.
std::optional<std::uint64_t> common_handle(const std::uint64_t *handles, std::uint32_t mask) {
    const std::uint64_t first = handles[__builtin_ctz(mask)];
    std::uint32_t others = 0;
    for (unsigned lane = 0; lane < kWarpSize; lane++)
        others |= std::uint32_t{handles[lane] != first} << lane;
    return (others & mask) == 0 ? std::optional(first) : std::nullopt;
}

/// False if the instruction has no quick form.
bool run_together(const Texture &texture, const TextureOperation &operation,
                  const LaneArrays &lanes) {
    switch (operation.kind) {
    case TextureOperation::Kind::Fetch:
        return fetch_lanes(texture, operation, lanes);
    case TextureOperation::Kind::Load:
        return load_lanes(texture, operation, lanes);
    case TextureOperation::Kind::Store:
        return store_lanes(texture, operation, lanes);
    default:
        return false;
    }
}

} // namespace

const void *scu_surface(std::uint64_t handle) noexcept {
    static constexpr SurfaceView nothing;
    const Texture *surface = look_up(handle);
    return surface ? &surface->view : &nothing;
}

// Nothing here owns anything: a fault while memory behind a texture is read may jump out.
void scu_texture(std::uint32_t bits, std::uint32_t mask, const std::uint64_t *handles,
                 const void *const *operands, void *const *results) {
    const TextureOperation operation = TextureOperation::from_bits(bits);
    if (mask == 0)
        return;
    if (const auto common = common_handle(handles, mask))
        if (run_together(texture_of(*common, static_cast<unsigned>(__builtin_ctz(mask))), operation,
                         {mask, operands, results}))
            return;
    const Texture *texture = nullptr;
    std::uint64_t handle = 0;
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
        if (!texture || handles[lane] != handle) {
            handle = handles[lane];
            texture = &texture_of(handle, lane);
        }
        run_lane(*texture, operation, {operands, results, lane});
    }
}

void scu_watch_texture(WorkerState *worker, WatchSite *sites, std::uint32_t bits,
                       std::uint32_t mask, const std::uint64_t *handles,
                       const void *const *operands, void *const *results) {
    const TextureOperation operation = TextureOperation::from_bits(bits);
    while (mask != 0) {
        const auto first = static_cast<unsigned>(__builtin_ctz(mask));
        std::uint32_t together = 0;
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            if (const auto lane = static_cast<unsigned>(__builtin_ctz(left));
                handles[lane] == handles[first])
                together |= 1u << lane;
        run_watched(texture_of(handles[first], first), operation, together,
                    *static_cast<BlockWatch *>(worker->watch), sites, {operands, results, first});
        mask &= ~together;
    }
}
