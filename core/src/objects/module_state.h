// module_state.h -- the state that the copies of a Module share.
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/function.h>
#include <pycuda/handle.h>
#include <pycuda/parameter.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pycuda::detail {

CUresult unload_module(CUmodule module);

struct ModuleState {
    Handle<CUmodule, unload_module> handle;
    CallerMutex mutex; // guards the members below
    std::map<std::string, std::vector<ParameterDescription>> descriptions;
    std::vector<std::string> variable_words; // words of the source that may name variables
    std::map<std::string, ParameterLayout> ptx_layouts;        // if the driver has no layouts
    std::vector<std::weak_ptr<const FunctionState>> functions; // all that may still be launched
};

} // namespace pycuda::detail
