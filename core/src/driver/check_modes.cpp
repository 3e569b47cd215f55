// check_modes.cpp -- softcuda's check modes, and core's reports to softcuda about its memory.
#include <pycuda/check_modes.h>

#include "driver/block_marks.h"
#include "driver/extension_text.h"

#include <abi/extensions.h>
#include <pycuda/driver.h>

#include <algorithm>
#include <array>

namespace pycuda {
namespace {

struct Name {
    std::string_view name;
    unsigned bits;
};
constexpr std::array<Name, 5> names = {{{"mem", check_mode::mem},
                                        {"race", check_mode::race},
                                        {"init", check_mode::init},
                                        {"sync", check_mode::sync},
                                        {"all", check_mode::all}}};

unsigned bits_of(std::string_view name, const char *where) {
    for (const Name &known : names)
        if (known.name == name)
            return known.bits;
    throw Error(where, CUDA_ERROR_INVALID_VALUE,
                "unknown check mode '" + std::string(name) +
                    "'; expected mem, race, init, sync or all, separated by commas");
}

/// A function that only softcuda has.
template <class Pointer> Pointer function(const char *name) {
    if (void *symbol = driver().symbol(name))
        return reinterpret_cast<Pointer>(symbol);
    throw Error(name, CUDA_ERROR_NOT_SUPPORTED,
                "the driver " + driver().path() +
                    " has no check modes; softcuda has them: set PYCUDA_DRIVER=softcuda, or "
                    "PYCUDA_CHECK to the modes, before the program starts");
}

std::atomic<CallSite> call_site_of_program{nullptr};

} // namespace

unsigned parse_check_modes(std::string_view list, const char *where) {
    unsigned modes = 0;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        modes |= bits_of(list.substr(begin, end - begin), where);
        begin = end + 1;
    }
    return modes;
}

unsigned check_modes() {
    void *ask = driver().symbol("scuCheckModes");
    return ask ? reinterpret_cast<PFN_scuCheckModes>(ask)() : 0;
}

void set_check_modes(unsigned modes) {
    check(function<PFN_scuSetCheckModes>("scuSetCheckModes")(modes), "scuSetCheckModes");
    detail::mark_blocks_for(modes);
}

std::string check_report() {
    return detail::text_of(function<PFN_scuCheckReport>("scuCheckReport"));
}

void mark_findings_told(std::span<const std::uint64_t> numbers) {
    function<PFN_scuMarkFindingsTold>("scuMarkFindingsTold")(numbers.data(), numbers.size());
}

void forget_findings() { function<PFN_scuForgetFindings>("scuForgetFindings")(); }

void mark_written(CUdeviceptr address, std::size_t bytes) {
    if (void *mark = driver().symbol("scuMarkWritten"))
        reinterpret_cast<PFN_scuMarkWritten>(mark)(address, bytes);
}

void set_call_site(CallSite call_site) noexcept { call_site_of_program = call_site; }

namespace detail {

void mark_blocks_for(unsigned modes) noexcept {
    if (modes & (check_mode::mem | check_mode::init))
        marks_blocks.store(true);
}

void mark_block(CUdeviceptr block, std::size_t bytes, BlockUse use) noexcept {
    const Driver *loaded = driver_for_cleanup();
    if (loaded == nullptr)
        return;
    static const auto mark = reinterpret_cast<PFN_scuMarkBlock>(loaded->symbol("scuMarkBlock"));
    if (mark)
        mark(block, bytes, use == BlockUse::Taken ? 1 : 0);
}

void note_allocation(CUdeviceptr address) {
    static const auto note =
        reinterpret_cast<PFN_scuNoteAllocation>(driver().symbol("scuNoteAllocation"));
    const CallSite call_site = call_site_of_program;
    if (!note || !call_site)
        return;
    if (const std::string where = call_site(); !where.empty())
        note(address, where.c_str());
}

} // namespace detail
} // namespace pycuda
