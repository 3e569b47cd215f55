// function.cpp -- a kernel's attributes.
#include <pycuda/function.h>

#include <pycuda/driver.h>

namespace pycuda {

Function Function::borrow(CUfunction handle, std::string name, Context context) {
    return Function(std::make_shared<const detail::FunctionState>(
        handle, std::move(name), ParameterLayout(), nullptr, std::move(context)));
}

CUfunction Function::require() const {
    if (!context().usable())
        throw Error("function", CUDA_ERROR_INVALID_CONTEXT,
                    "the context of kernel '" + name() + "' was detached");
    if (get() == nullptr)
        throw Error("function", CUDA_ERROR_INVALID_HANDLE,
                    "the module of kernel '" + name() + "' was closed before");
    return get();
}

int Function::attribute(CUfunction_attribute attribute) const {
    int value = 0;
    check(driver().cuFuncGetAttribute.status(&value, attribute, require()), "cuFuncGetAttribute",
          [&] {
              return "kernel '" + name() + "', attribute " +
                     std::to_string(static_cast<int>(attribute));
          });
    return value;
}

void Function::set_attribute(CUfunction_attribute attribute, int value) const {
    check(
        driver().cuFuncSetAttribute.status(require(), attribute, value), "cuFuncSetAttribute", [&] {
            return "kernel '" + name() + "', attribute " +
                   std::to_string(static_cast<int>(attribute)) + ", value " + std::to_string(value);
        });
}

void Function::set_cache_config(CUfunc_cache config) const {
    driver().cuFuncSetCacheConfig(require(), config);
}

void Function::set_shared_config(CUsharedconfig config) const {
    driver().cuFuncSetSharedMemConfig(require(), config);
}

} // namespace pycuda
