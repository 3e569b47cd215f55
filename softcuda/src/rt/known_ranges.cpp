// known_ranges.cpp -- finds what an address outside the arena belongs to.
#include "rt/known_ranges.h"

#include "rt/cluster.h"
#include "rt/guard.h"
#include "rt/kernel_abi.h"
#include "rt/kernel_services.h"
#include "rt/windows.h"

namespace softcuda::rt {
namespace {

KnownRange look_up(const WorkerState *worker, const LaunchFrame *frame, std::uint64_t address,
                   std::uint64_t size, Access access) noexcept {
    for (const KnownRange &window :
         {Windows::shared_range(worker->shared), Windows::local_range(worker->local)})
        if (window.contains(address, 1)) // nothing else is behind its end
            return window;
    if (const KnownRange shared = cluster_range(worker, address, size); shared.bytes > 0)
        return shared;
    auto &services = *static_cast<KernelServices *>(frame->launch);
    const auto begin = reinterpret_cast<std::uint64_t>(frame->params);
    const KnownRange parameters = {begin, services.parameter_block().size()};
    if (access == Access::Load && parameters.contains(address, size))
        return parameters;
    const Guard::Uninterrupted section;
    const KnownRange registered = services.registered_range(address);
    return registered.contains(address, size) ? registered : KnownRange{};
}

} // namespace

KnownRange find_known_range(WorkerState *worker, const LaunchFrame *frame, std::uint64_t address,
                            std::uint64_t size, Access access) noexcept {
    KnownRanges &known = worker->known;
    const bool writes = access != Access::Load;
    for (const KnownRange &range : known.recent[writes])
        if (range.contains(address, size))
            return range;
    const KnownRange found = look_up(worker, frame, address, size, access);
    if (found.bytes > 0) {
        known.recent[writes][known.next[writes]++ % KnownRanges::kRecent] = found;
        known.used = true;
    }
    return found;
}

} // namespace softcuda::rt
