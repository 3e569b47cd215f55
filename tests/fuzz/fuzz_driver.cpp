// fuzz_driver.cpp -- calls functions of the driver API with arguments that libFuzzer's bytes
// select: live, freed, foreign, random and null handles, from two threads at once.
//
// The rows of driver.def list the functions; a function's type determines its arguments. Each
// argument is selected among values that a wrong program could have:
//
//     a handle        null, one that an earlier call returned (of any type, freed or not), any
//     number a device's address         null, memory that was allocated, any number a pointer null,
//     or memory of the caller: zeros, small numbers, handles a number        small, since it may be
//     the size of the caller's memory
//
// An invalid pointer into host memory is never used, because no driver survives it. Any result is
// correct, but a crash, a hang or a sanitizer's report is an error.
#define __CUDA_API_VERSION_INTERNAL // also the types of the functions' older forms

#include "fuzz_calls.h"

#include "abi/driver_types.h"
#include "api/exports.h"

#include <string>

using namespace fuzz;

namespace {

struct DriverArguments {
    template <class T> static T draw(Draw &draw) { return draw_argument<T>(draw); }
};

struct Row {
    const char *name;
    const char *symbol;
    Caller call;
};

// A function that the included header does not declare cannot be called: nullptr. A row's version
// is unknown if FUZZ_UNKNOWN_<version> is defined, as two arguments of which the second is 1. The
// type's name is concatenated at once, before cuda.h's macros can change the function's name.
#define FUZZ_SECOND(first, second, ...) second
#define FUZZ_IS_UNKNOWN(...) FUZZ_SECOND(__VA_ARGS__, 0, 0)
#define FUZZ_CALLER_0(type) &CallOf<DriverArguments, type>::call
#define FUZZ_CALLER_1(type) nullptr
#define FUZZ_PASTE(unknown, type) FUZZ_CALLER_##unknown(type)
#define FUZZ_CHOOSE(unknown, type) FUZZ_PASTE(unknown, type)
#define FUZZ_CALLER(unknown, type) FUZZ_CHOOSE(FUZZ_IS_UNKNOWN(unknown), type)
#if CUDA_VERSION < 13010
#define FUZZ_UNKNOWN_13010 ~, 1
#endif
#if CUDA_VERSION < 13020
#define FUZZ_UNKNOWN_13020 ~, 1
#endif
#if CUDA_VERSION < 13030
#define FUZZ_UNKNOWN_13030 ~, 1
#endif
#if CUDA_VERSION < 13040
#define FUZZ_UNKNOWN_13040 ~, 1
#endif
#if CUDA_VERSION < 13050
#define FUZZ_UNKNOWN_13050 ~, 1
#endif

const Row kRows[] = {
#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    {#name, #symbol, FUZZ_CALLER(FUZZ_UNKNOWN_##version, PFN_##name##_v##version)},
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD(name, symbol, version) {#name, #symbol, nullptr},
#include "abi/driver.def"
};

/// A per-thread form has the arguments of its plain form, whose symbol has no suffix.
Caller caller_of(std::size_t row) {
    if (kRows[row].call)
        return kRows[row].call;
    std::string plain = kRows[row].symbol;
    plain.resize(plain.size() - std::string("_ptsz").size());
    for (const Row &other : kRows)
        if (other.call && plain == other.symbol)
            return other.call;
    return nullptr;
}

/// Functions that end the process, wait for ever, call what an argument points to, or keep a
/// process waiting.
bool is_left_out(std::string_view name) {
    static constexpr std::string_view kNames[] = {
        "cuStreamWaitValue32",
        "cuStreamWaitValue64",
        "cuStreamBatchMemOp",
        "cuGraphAddBatchMemOpNode",
        "cuGraphBatchMemOpNodeSetParams",
        "cuGraphExecBatchMemOpNodeSetParams",
        "cuCheckpointProcessLock",
        "cuCoredumpRegisterStartCallback",
        "cuCoredumpRegisterCompleteCallback",
        "cuLogsRegisterCallback",
    };
    for (const std::string_view left_out : kNames)
        if (name == left_out)
            return true;
    return false;
}

const std::vector<Target> &targets() {
    static const std::vector<Target> all = [] {
        std::vector<Target> made;
        const auto exports = softcuda::api::exports(); // has the same rows in the same order
        for (std::size_t row = 0; row < std::size(kRows); row++)
            if (const Caller call = caller_of(row); call && !is_left_out(kRows[row].name))
                made.push_back({kRows[row].symbol, exports[row].function, call});
        return made;
    }();
    return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    Handles handles;
    call_from_two_threads(targets(), handles, {data, size});
    handles.tear_down();
    return 0;
}
