// texture_table.cpp -- handles are small numbers, found without a lock.
#include "rt/texture.h"

#include <deque>
#include <mutex>

namespace softcuda::rt {
namespace {

constexpr std::uint64_t kMostTextures = std::uint64_t{1} << 20;

std::atomic<const Texture *> table[kMostTextures];

/// The handles that are free. One that was used is given again as late as possible.
struct FreeHandles {
    std::mutex mutex;
    std::uint64_t never_used = 1;
    std::deque<std::uint64_t> returned;
};

FreeHandles &free_handles() {
    static auto *const handles = new FreeHandles;
    return *handles;
}

SurfaceView view_of(const Texture &surface) noexcept {
    const Image &image = surface.levels[0];
    return {.address = image.address,
            .pitch = image.pitch,
            .slice = image.slice,
            .row = image.extent[0] * surface.texel_bytes(),
            .rows = image.extent[1],
            .slices = image.extent[2]};
}

} // namespace

std::uint64_t add_texture(std::unique_ptr<Texture> texture) {
    if (texture->is_surface)
        texture->view = view_of(*texture);
    FreeHandles &handles = free_handles();
    std::lock_guard lock(handles.mutex);
    std::uint64_t handle = 0;
    if (handles.never_used < kMostTextures) {
        handle = handles.never_used++;
    } else if (!handles.returned.empty()) {
        handle = handles.returned.front();
        handles.returned.pop_front();
    } else {
        return 0;
    }
    table[handle].store(texture.release(), std::memory_order_release);
    return handle;
}

bool remove_texture(std::uint64_t handle) {
    if (handle >= kMostTextures)
        return false;
    const std::unique_ptr<const Texture> texture(table[handle].exchange(nullptr));
    if (!texture)
        return false;
    FreeHandles &handles = free_handles();
    std::lock_guard lock(handles.mutex);
    handles.returned.push_back(handle);
    return true;
}

const Texture *find_texture(std::uint64_t handle) noexcept {
    return handle < kMostTextures ? table[handle].load(std::memory_order_acquire) : nullptr;
}

} // namespace softcuda::rt
