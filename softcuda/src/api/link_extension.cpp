// link_extension.cpp -- links without a device, for softcuda's nvJitLink: see abi/extensions.h.
#include "abi/extensions.h"
#include "api/call.h"
#include "compiler/program.h"
#include "device/read_image.h"

#include <charconv>
#include <cstring>
#include <span>
#include <string_view>

using namespace softcuda;

namespace {

/// The client's function for texts.
struct Receiver {
    ScuTakeText take;
    void *client;

    void give(ScuLinkText kind, const std::string &name, std::string_view text) const {
        take(client, kind, name.c_str(), text.data(), text.size());
    }
};

/// Runs body(log), and gives the log to the client in any case.
template <class Body> void reporting(const Receiver &receiver, Body &&body) {
    std::string log;
    try {
        body(log);
    } catch (...) {
        receiver.give(SCU_LINK_LOG, "", log);
        throw;
    }
    if (!log.empty())
        receiver.give(SCU_LINK_LOG, "", log);
}

/// The number of `.target sm_80` in text that the linker made.
int target_of(std::string_view linked) {
    constexpr std::string_view kTarget = "\n.target sm_";
    const char *number = linked.data() + linked.find(kTarget) + kTarget.size();
    int target = 0;
    std::from_chars(number, linked.data() + linked.size(), target);
    return target;
}

/// Throws unless the text is PTX for devices of this compute capability.
void check_ptx(const device::Linkable &program, int architecture, std::string &log) {
    log.clear();
    const auto parsed = compiler::Program::link({{program.name, program.ptx}}, log, 0);
    device::require(parsed.has_value(), CUDA_ERROR_INVALID_PTX);
    if (const int target = target_of(parsed->ptx); target > architecture) {
        log = "error: '" + program.name + "' has PTX for sm_" + std::to_string(target) +
              ", which is newer than -arch=sm_" + std::to_string(architecture) + "\n";
        throw device::Error(CUDA_ERROR_INVALID_PTX);
    }
}

void give_program(device::Linkable program, int architecture, const Receiver &receiver,
                  std::string &log) {
    if (!program.lto_ir.empty()) {
        const auto *bytes = reinterpret_cast<const char *>(program.lto_ir.data());
        receiver.give(SCU_LINK_LTO_IR, program.name, {bytes, program.lto_ir.size()});
        return;
    }
    // The client's size may or may not include the final NUL.
    program.ptx.resize(std::strlen(program.ptx.c_str()));
    check_ptx(program, architecture, log);
    receiver.give(SCU_LINK_PTX, program.name, program.ptx);
}

void describe(const compiler::KernelInfo &kernel, const Receiver &receiver) {
    receiver.give(SCU_LINK_INFO, kernel.name,
                  "Function properties for '" + kernel.name + "': used " +
                      std::to_string(kernel.registers) + " registers, " +
                      std::to_string(kernel.static_shared_bytes) + " bytes smem, " +
                      std::to_string(kernel.local_bytes_per_thread) + " bytes lmem");
}

} // namespace

SCU_EXPORT CUresult scuReadLinkInput(CUjitInputType type, const void *data, std::size_t bytes,
                                     const char *name, int architecture, int wants_lto_ir,
                                     ScuTakeText take, void *client) {
    return api::guarded([&] {
        api::require_non_null(data, name);
        device::require(take != nullptr && bytes > 0, CUDA_ERROR_INVALID_VALUE);
        const Receiver receiver{take, client};
        const std::span input(static_cast<const std::byte *>(data), bytes);
        const auto lto = wants_lto_ir ? device::LtoIr::Preferred : device::LtoIr::Ignored;
        reporting(receiver, [&](std::string &log) {
            if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY)
                for (device::Linkable &part :
                     device::read_objects(input, name, architecture, log, lto))
                    give_program(std::move(part), architecture, receiver, log);
            else
                give_program(device::read_linkable(input, name, architecture, log, lto),
                             architecture, receiver, log);
        });
    });
}

SCU_EXPORT CUresult scuLinkPtx(const ScuLinkProgram *programs, std::size_t count,
                               unsigned most_registers, int keeps_undefined, ScuTakeText take,
                               void *client) {
    return api::guarded([&] {
        api::require_non_null(programs);
        device::require(take != nullptr && count > 0, CUDA_ERROR_INVALID_VALUE);
        const Receiver receiver{take, client};
        std::vector<compiler::LinkInput> inputs;
        for (const ScuLinkProgram &program : std::span(programs, count))
            inputs.push_back({program.name, program.ptx});
        reporting(receiver, [&](std::string &log) {
            const auto linked = compiler::Program::link(inputs, log, most_registers);
            device::require(linked.has_value(), CUDA_ERROR_INVALID_PTX);
            if (keeps_undefined) {
                for (const std::string &name : linked->undefined)
                    receiver.give(SCU_LINK_UNDEFINED, name, "");
            } else {
                const auto program = compiler::Program::from_ptx(linked->ptx, log);
                device::require(program != nullptr, CUDA_ERROR_INVALID_PTX);
                for (const compiler::KernelInfo &kernel : program->kernels())
                    describe(kernel, receiver);
            }
            receiver.give(SCU_LINK_PTX, "", linked->ptx);
        });
    });
}
