// fault_log.cpp -- puts faults into words.
#include "device/fault_log.h"

#include "device/driver_log.h"
#include "device/system.h"

#include <cstdio>
#include <mutex>

namespace softcuda::device {
namespace {

std::mutex mutex;
std::string &last_message() {
    static auto *const message = new std::string;
    return *message;
}

const char *kind_text(rt::Fault kind) {
    switch (kind) {
    case rt::Fault::IllegalAddress:
        return "illegal address";
    case rt::Fault::MisalignedAddress:
        return "misaligned address";
    case rt::Fault::Trap:
        return "trap";
    case rt::Fault::Assert:
        return "assertion failed";
    case rt::Fault::BarrierMismatch:
        return "warps of one block wait at a barrier that others cannot reach";
    case rt::Fault::StackOverflow:
        return "stack overflow";
    case rt::Fault::InvalidInstruction:
        return "invalid instruction";
    }
    return "unknown fault";
}

const char *action_text(rt::FaultReport::Direction direction) {
    switch (direction) {
    case rt::FaultReport::Direction::Read:
        return " reading ";
    case rt::FaultReport::Direction::Write:
        return " writing ";
    case rt::FaultReport::Direction::Unknown:
        break;
    }
    return " at ";
}

std::string place_text(const rt::Grid::Failure &failure, const rt::LaunchFrame &frame) {
    const std::uint64_t x = failure.block % frame.grid[0];
    const std::uint64_t y = failure.block / frame.grid[0] % frame.grid[1];
    const std::uint64_t z = failure.block / frame.grid[0] / frame.grid[1];
    std::string text = "block (" + std::to_string(x) + "," + std::to_string(y) + "," +
                       std::to_string(z) + "), warp " + std::to_string(failure.warp);
    if (failure.report.lane >= 0)
        text += ", lane " + std::to_string(failure.report.lane);
    return text;
}

bool has_address(rt::Fault kind) {
    return kind == rt::Fault::IllegalAddress || kind == rt::Fault::MisalignedAddress;
}

} // namespace

void log_fault(const std::string &message) {
    std::lock_guard lock(mutex);
    std::fprintf(stderr, "softcuda: %s\n", message.c_str());
    last_message() = message;
    driver_log::add(driver_log::Level::Error, message);
}

std::string last_fault_message() {
    std::lock_guard lock(mutex);
    return last_message();
}

std::string describe_failure(const std::string &kernel, const rt::Grid::Failure &failure,
                             const rt::LaunchFrame &frame) {
    const rt::FaultReport &report = failure.report;
    std::string text = "kernel `" + kernel + "` failed in " + place_text(failure, frame) + ": " +
                       (report.detail[0] != '\0' ? report.detail : kind_text(report.kind));
    if (!has_address(report.kind))
        return text;
    if (!report.address_known)
        return text + " (no pointer at all)";
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx",
                  static_cast<unsigned long long>(report.address));
    text += action_text(report.direction);
    text += address;
    return text + ", " + System::get().memory().describe(report.address);
}

} // namespace softcuda::device
