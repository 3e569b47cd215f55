// program.cpp -- registers a program's device code, and loads it at the first use.
//
// A program of nvcc or clang contains its device code as a fat binary, and calls __cudaRegister...
// in a constructor for the fat binary and for each kernel and variable. Constructors run before the
// driver may be used, so they only store addresses and names. At the first use of a kernel or
// variable, the fat binary is loaded into the driver as a library, which is independent of
// contexts.
#include "program.h"

#include "device.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace softcudart {
namespace {

/// One fat binary of the program.
class Binary {
  public:
    struct Managed {
        void **pointer; ///< the program's pointer to the variable
        std::string name;
    };

    explicit Binary(const void *wrapper) : wrapper_(wrapper) {}

    /// The driver's library; loads the code at the first call. Throws Failure.
    CUlibrary library() {
        const std::lock_guard lock(mutex_);
        if (!tried_) {
            tried_ = true;
            result_ = load();
        }
        check(result_);
        return library_;
    }

    void add_managed(void **pointer, const char *name) {
        const std::lock_guard lock(mutex_);
        managed_.push_back({pointer, name});
    }

    [[nodiscard]] std::vector<Managed> managed() {
        const std::lock_guard lock(mutex_);
        return managed_;
    }

    /// The device whose memory the program's pointers to managed variables refer to; initially -1.
    std::atomic<int> managed_device = -1;

  private:
    CUresult load() {
        std::array<char, 4096> log{};
        std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER,
                                               CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        std::array<void *, 2> values = {log.data(), as<void *>(log.size())};
        const CUresult result =
            cuLibraryLoadData(&library_, wrapper_, options.data(), values.data(),
                              static_cast<unsigned>(options.size()), nullptr, nullptr, 0);
        // Programs usually report only the number of an error, which does not explain the cause.
        if (result != CUDA_SUCCESS && log[0] != '\0')
            std::fprintf(stderr, "softcuda: the program's device code was refused: %s\n",
                         log.data());
        return result;
    }

    const void *wrapper_;
    std::mutex mutex_;
    bool tried_ = false;
    CUresult result_ = CUDA_SUCCESS;
    CUlibrary library_ = nullptr;
    std::vector<Managed> managed_;
};

/// A kernel or a variable of a binary.
struct Symbol {
    std::shared_ptr<Binary> binary;
    std::string name;
    bool managed = false;
    CUkernel kernel = nullptr; ///< set at the first look-up
};

/// The code that programs have registered.
struct Registry {
    std::shared_mutex mutex; ///< protects the members below
    std::map<const void *, std::shared_ptr<Binary>> binaries;
    std::map<const void *, Symbol> kernels;
    std::map<const void *, Symbol> variables;
};

/// Never destroyed: programs unregister code while the process ends.
Registry &registry() {
    static auto *all = new Registry;
    return *all;
}

std::shared_ptr<Binary> find_binary(const void *handle) {
    const std::shared_lock lock(registry().mutex);
    const auto found = registry().binaries.find(handle);
    return found == registry().binaries.end() ? nullptr : found->second;
}

/// Returns a copy, because another thread may unregister the symbol.
bool find(const std::map<const void *, Symbol> &symbols, const void *address, Symbol &result) {
    const std::shared_lock lock(registry().mutex);
    const auto found = symbols.find(address);
    if (found == symbols.end())
        return false;
    result = found->second;
    return true;
}

CUkernel look_up(const void *address, const Symbol &symbol) {
    CUkernel kernel = nullptr;
    const CUresult result =
        cuLibraryGetKernel(&kernel, symbol.binary->library(), symbol.name.c_str());
    require(result != CUDA_ERROR_NOT_FOUND, cudaErrorInvalidDeviceFunction);
    check(result);
    const std::lock_guard lock(registry().mutex);
    const auto entry = registry().kernels.find(address);
    if (entry != registry().kernels.end())
        entry->second.kernel = kernel;
    return kernel;
}

/// The kernel of a stub, or null. Each launch calls this, so a known kernel is found without a
/// copy.
CUkernel registered_kernel(const void *symbol) {
    {
        const std::shared_lock lock(registry().mutex);
        const auto known = registry().kernels.find(symbol);
        if (known == registry().kernels.end())
            return nullptr;
        if (known->second.kernel)
            return known->second.kernel;
    }
    Symbol found;
    return find(registry().kernels, symbol, found) ? look_up(symbol, found) : nullptr;
}

/// Sets the program's pointers to the addresses of the variables in the current context.
void load_managed(const std::shared_ptr<Binary> &binary) {
    for (const Binary::Managed &managed : binary->managed()) {
        CUdeviceptr address = 0;
        std::size_t size = 0;
        check(cuLibraryGetManaged(&address, &size, binary->library(), managed.name.c_str()));
        const std::lock_guard lock(registry().mutex);
        *managed.pointer = as<void *>(address);
        registry().variables[*managed.pointer] = {binary, managed.name, true, nullptr};
    }
    binary->managed_device = current_device();
}

void erase_symbols(std::map<const void *, Symbol> &symbols, const std::shared_ptr<Binary> &binary) {
    std::erase_if(symbols, [&](const auto &entry) { return entry.second.binary == binary; });
}

} // namespace

CUkernel kernel_of(const void *symbol) {
    CUkernel kernel = registered_kernel(symbol);
    if (kernel)
        return kernel;
    // A kernel's handle, passed as a pointer.
    const char *name = nullptr;
    kernel = as<CUkernel>(const_cast<void *>(symbol));
    require(cuKernelGetName(&name, kernel) == CUDA_SUCCESS, cudaErrorInvalidDeviceFunction);
    return kernel;
}

CUfunction function_of(const void *symbol) {
    CUfunction function = nullptr;
    CUkernel kernel = registered_kernel(symbol);
    if (!kernel) {
        const char *name = nullptr;
        function = as<CUfunction>(const_cast<void *>(symbol));
        if (cuFuncGetName(&name, function) == CUDA_SUCCESS)
            return function;
        kernel = kernel_of(symbol);
    }
    check(cuKernelGetFunction(&function, kernel));
    return function;
}

const void *symbol_of(CUfunction function) {
    const std::shared_lock lock(registry().mutex);
    for (const auto &[stub, symbol] : registry().kernels) {
        CUfunction own = nullptr;
        if (symbol.kernel && cuKernelGetFunction(&own, symbol.kernel) == CUDA_SUCCESS &&
            own == function)
            return stub;
    }
    return function;
}

Variable variable_of(const void *symbol) {
    Symbol found;
    require(find(registry().variables, symbol, found), cudaErrorInvalidSymbol);
    Variable variable;
    const auto get = found.managed ? cuLibraryGetManaged : cuLibraryGetGlobal;
    const CUresult result =
        get(&variable.address, &variable.size, found.binary->library(), found.name.c_str());
    require(result != CUDA_ERROR_NOT_FOUND, cudaErrorInvalidSymbol);
    check(result);
    return variable;
}

CUdeviceptr part_of(const void *symbol, std::size_t offset, std::size_t count) {
    const Variable variable = variable_of(symbol);
    require(offset <= variable.size && count <= variable.size - offset);
    return variable.address + offset;
}

void load_managed_variables_again(int device) {
    std::vector<std::shared_ptr<Binary>> binaries;
    {
        const std::shared_lock lock(registry().mutex);
        for (const auto &[handle, binary] : registry().binaries)
            if (binary->managed_device == device)
                binaries.push_back(binary);
    }
    for (const std::shared_ptr<Binary> &binary : binaries) {
        const OnDevice scope(device);
        load_managed(binary);
    }
}

} // namespace softcudart

using namespace softcudart;

// Functions that compiled code calls. A handle is the address of the fat binary's wrapper: it is
// unique, and programs that dereference the handle find the wrapper.

CUDART_EXPORT void **__cudaRegisterFatBinary(void *wrapper) {
    guarded([&] {
        const std::lock_guard lock(registry().mutex);
        registry().binaries[wrapper] = std::make_shared<Binary>(wrapper);
    });
    return static_cast<void **>(wrapper);
}

CUDART_EXPORT void __cudaRegisterFatBinaryEnd(void **) {} // the code is loaded at its first use

// The driver's library is not unloaded, because that would wait for kernels. Most programs
// unregister while the process ends, which also ends running kernels.
CUDART_EXPORT void __cudaUnregisterFatBinary(void **handle) {
    guarded([&] {
        const std::shared_ptr<Binary> binary = find_binary(handle);
        if (!binary)
            return;
        const std::lock_guard lock(registry().mutex);
        erase_symbols(registry().kernels, binary);
        erase_symbols(registry().variables, binary);
        registry().binaries.erase(handle);
    });
}

// The arguments after the name are for an emulator that no longer exists.
CUDART_EXPORT void __cudaRegisterFunction(void **handle, const char *stub, char *, const char *name,
                                          int, uint3 *, uint3 *, dim3 *, dim3 *, int *) {
    guarded([&] {
        const std::shared_ptr<Binary> binary = find_binary(handle);
        require(binary && stub && name);
        const std::lock_guard lock(registry().mutex);
        registry().kernels[stub] = {binary, name, false, nullptr};
    });
}

// The driver knows a variable's size and type by its name.
CUDART_EXPORT void __cudaRegisterVar(void **handle, char *address, char *, const char *name, int,
                                     std::size_t, int, int) {
    guarded([&] {
        const std::shared_ptr<Binary> binary = find_binary(handle);
        require(binary && address && name);
        const std::lock_guard lock(registry().mutex);
        registry().variables[address] = {binary, name, false, nullptr};
    });
}

CUDART_EXPORT void __cudaRegisterManagedVar(void **handle, void **pointer, char *, const char *name,
                                            int, std::size_t, int, int) {
    guarded([&] {
        const std::shared_ptr<Binary> binary = find_binary(handle);
        require(binary && pointer && name);
        binary->add_managed(pointer, name);
    });
}

/// Called before the host's first use of a managed variable. False if that failed.
CUDART_EXPORT char __cudaInitModule(void **handle) {
    return with_context([&] {
               const std::shared_ptr<Binary> binary = find_binary(handle);
               require(binary != nullptr);
               if (binary->managed_device < 0)
                   load_managed(binary);
           }) == cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol) {
    return with_context([&] {
        require_non_null(function, symbol);
        *function = function_of(symbol);
    });
}

CUDART_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *symbol) {
    return with_driver([&] {
        require_non_null(kernel, symbol);
        *kernel = as<cudaKernel_t>(kernel_of(symbol));
    });
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *symbol) {
    return __cudaGetKernel(kernel, symbol);
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    return with_context([&] {
        require_non_null(address);
        *address = as<void *>(variable_of(symbol).address);
    });
}

cudaError_t cudaGetSymbolSize(std::size_t *size, const void *symbol) {
    return with_context([&] {
        require_non_null(size);
        *size = variable_of(symbol).size;
    });
}
