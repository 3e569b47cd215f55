// fuzz_nvml.cpp -- calls NVML's functions with arguments that libFuzzer's bytes select, from two
// threads at once, as fuzz_driver.cpp does for the driver API.
//
// The library's sources are included, because there is no header with the types of the functions.
#include "fuzz_calls.h"

#include "nvml/identity.cpp"
#include "nvml/not_supported.cpp"
#include "nvml/properties.cpp"
#include "nvml/state.cpp"
#include "nvml/topology.cpp"
#include "nvml/use.cpp"
#include "nvml/versions.cpp"

#include <cstdlib>

namespace fuzz {

void fill(Draw &draw, nvmlProcessDetailList_v1_t &list) {
    list.version = draw.byte() < 200 ? softnvml::version_of<nvmlProcessDetailList_v1_t>(1)
                                     : static_cast<unsigned>(draw.number());
    list.mode = static_cast<unsigned>(draw.number());
    list.numProcArrayEntries = static_cast<unsigned>(draw.number());
    list.procArray =
        reinterpret_cast<nvmlProcessDetail_v1_t *>(draw.block([&] { return draw.number(); }));
}

} // namespace fuzz

using namespace fuzz;

namespace {

template <class T>
concept Versioned = requires(T &value) { value.version; };

struct NvmlArguments {
    template <class T> static T draw(Draw &draw) {
        using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (std::is_same_v<T, nvmlDevice_t>) {
            // Mostly a device.
            return draw.byte() < 192 ? softnvml::handle_of(0) : reinterpret_cast<T>(draw.handle());
        } else if constexpr (std::is_pointer_v<T> && std::is_class_v<Pointee> && !Filled<Pointee>) {
            std::uint64_t *memory = draw.block([&] { return draw.number(); });
            if constexpr (Versioned<Pointee>)
                if (memory && draw.byte() < 192)
                    reinterpret_cast<Pointee *>(memory)->version =
                        softnvml::version_of<Pointee>(1 + draw.byte() % 2);
            return reinterpret_cast<T>(memory);
        } else {
            return draw_argument<T>(draw);
        }
    }
};

template <class Function> Target target(const char *name, Function function) {
    return {name, reinterpret_cast<void *>(function), &CallOf<NvmlArguments, Function>::call};
}

const std::vector<Target> &targets() {
    static const std::vector<Target> all = {
#define NVML_FUNCTION(name) target(#name, &name),
#define NVML_OF_DEVICE NVML_FUNCTION
#define NVML_REFUSED NVML_FUNCTION
#include "nvml/nvml.def"
    };
    return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    Handles handles;
    nvmlInit_v2();
    call_from_two_threads(targets(), handles, {data, size});
    while (nvmlShutdown() == NVML_SUCCESS)
        ;
    handles.tear_down();
    return 0;
}
