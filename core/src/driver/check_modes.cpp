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

/// A function that only softcuda has. Throws Error (not supported) for another driver.
template <class Pointer> Pointer required(Pointer function, const char *name) {
    if (function)
        return function;
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
    const auto ask = driver().extensions().scuCheckModes;
    return ask ? ask() : 0;
}

void set_check_modes(unsigned modes) {
    const auto set = required(driver().extensions().scuSetCheckModes, "scuSetCheckModes");
    check(set(modes), "scuSetCheckModes");
    detail::mark_blocks_for(modes);
}

std::string check_report() {
    return detail::text_of(required(driver().extensions().scuCheckReport, "scuCheckReport"));
}

void mark_findings_read(std::span<const std::uint64_t> numbers) {
    required(driver().extensions().scuMarkFindingsTold, "scuMarkFindingsTold")(numbers.data(),
                                                                               numbers.size());
}

void forget_findings() { required(driver().extensions().scuForgetFindings, "scuForgetFindings")(); }

void mark_written(CUdeviceptr address, std::size_t bytes) {
    if (const auto mark = driver().extensions().scuMarkWritten)
        mark(address, bytes);
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
    if (const auto mark = loaded->extensions().scuMarkBlock)
        mark(block, bytes, use == BlockUse::Taken ? 1 : 0);
}

void note_allocation(CUdeviceptr address) {
    const auto note = driver().extensions().scuNoteAllocation;
    const CallSite call_site = call_site_of_program;
    if (!note || !call_site)
        return;
    if (const std::string where = call_site(); !where.empty())
        note(address, where.c_str());
}

} // namespace detail
} // namespace pycuda
