// driver.cpp -- opens the driver library once and fills the table from driver.def.
//
// Each table entry is one of three functions: the function of the library; with PYCUDA_TRACE, a
// thunk that logs the call and calls the library; if the driver is too old to have the function, a
// thunk that throws.
#include <pycuda/driver.h>

#include "driver/block_marks.h"
#include "driver/library.h"
#include "driver/library_call.h"
#include "driver/never_destroyed.h"
#include "driver/pool_block.h"
#include "driver/trace.h"

#include <abi/extensions.h>
#include <pycuda/init.h>

#include <pthread.h>

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace pycuda {

namespace detail {
std::atomic<const Driver *> loaded_driver{nullptr};
}

namespace {

std::atomic<bool> is_finalizing{false};
std::atomic<bool> is_forked_child{false};
/// True after init() has chosen and initialised the driver.
std::atomic<bool> is_decided{false};

[[noreturn]] void throw_missing(const char *name, int introduced);

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace

/// Fills a Driver. No other class may write to the table.
struct DriverLoader {
    /// The driver that was opened last. Never destroyed, because destructors of static objects may
    /// still call it.
    static Driver &newest() { return *newest_; }

    /// The functions of the library, for entries of which the table holds thunks.
    static DriverTable &traced_functions() { return never_destroyed<DriverTable>(); }

    template <auto Member, int Version, class Pointer> struct Thunk;
    template <auto Member, int Version, class... Args>
    struct Thunk<Member, Version, CUresult(CUDAAPI *)(Args...)> {
        static CUresult CUDAAPI missing(Args...) {
            throw_missing((newest().*Member).name(), Version);
        }
        static CUresult CUDAAPI traced(Args... args) {
            const auto &function = traced_functions().*Member;
            return trace::call(function.name(), function.pointer_, args...);
        }
    };

    explicit DriverLoader(const Library &library)
        : library_(library), tracing_(trace_wanted()),
          get_proc_address_(reinterpret_cast<PFN_cuGetProcAddress_v12000>(
              library.symbol("cuGetProcAddress_v2"))) {}

    void *find(const char *name, const char *symbol, int version) const {
        void *pointer = nullptr;
        CUdriverProcAddressQueryResult found{};
        if (get_proc_address_ &&
            get_proc_address_(name, &pointer, version, CU_GET_PROC_ADDRESS_DEFAULT, &found) ==
                CUDA_SUCCESS &&
            pointer)
            return pointer;
        return library_.symbol(symbol);
    }

    template <auto Member, int Version>
    void load_row(Driver &driver, const char *name, const char *symbol) const {
        auto &entry = driver.*Member;
        using Pointer = typename std::remove_reference_t<decltype(entry)>::Pointer;
        entry.name_ = name;
        entry.pointer_ = reinterpret_cast<Pointer>(find(name, symbol, Version));
        entry.available_ = entry.pointer_ != nullptr;
        if (!entry.available_)
            entry.pointer_ = Thunk<Member, Version, Pointer>::missing;
        else if (tracing_) {
            traced_functions().*Member = entry;
            entry.pointer_ = Thunk<Member, Version, Pointer>::traced;
        }
    }

    static ImageKind image_kind(PFN_scuImageKind ask) {
        return ask && std::strcmp(ask(), "ptx") == 0 ? ImageKind::Ptx : ImageKind::Cubin;
    }

    /// Whether NVIDIA's driver calls a tool in its functions. compute-sanitizer takes Python's GIL
    /// there, to note where the program is, while the driver holds its locks.
    static bool has_tool() {
        return std::getenv("CUDA_INJECTION64_PATH") != nullptr ||
               ::dlopen("libsanitizer-collection.so", RTLD_NOW | RTLD_NOLOAD) != nullptr;
    }

    static const Driver &load(std::shared_ptr<Library> library) {
        Driver &driver = *(newest_ = new Driver());
        DriverLoader loader(*library);
#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    loader.load_row<&DriverTable::name, version>(driver, #name, #symbol);
#include <abi/driver.def>
#define PYCUDA_EXTENSION(name)                                                                     \
    driver.extensions_.name = reinterpret_cast<PFN_##name>(library->symbol(#name));
#include <abi/extensions.def>
        driver.path_ = library->path();
        driver.library_ = std::move(library);
        driver.image_kind_ = image_kind(driver.extensions_.scuImageKind);
        if (has_tool())
            driver.tool_.emplace();
        int version = 0;
        driver.cuDriverGetVersion(&version);
        driver.version_ = version;
        return driver;
    }

  private:
    static inline Driver *newest_ = nullptr;
    const Library &library_;
    bool tracing_;
    PFN_cuGetProcAddress_v12000 get_proc_address_;
};

namespace {

void throw_missing(const char *name, int introduced) {
    const Driver &driver = DriverLoader::newest();
    throw Error(name, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
                "the driver " + driver.path() + " (CUDA " + version_text(driver.version()) +
                    ") has no " + name + ", which CUDA " + version_text(introduced) +
                    " introduced");
}

/// A driver's threads and mappings do not survive fork(), so the child process must not use the
/// driver.
void after_fork_in_child() {
    if (!is_decided.load())
        return; // open, but not initialised
    detail::loaded_driver.store(nullptr);
    is_forked_child.store(true);
}

[[noreturn]] void throw_forked() {
    throw Error("driver", CUDA_ERROR_NOT_INITIALIZED,
                "CUDA was initialised before fork and cannot be used in the child process; use "
                "multiprocessing's \"spawn\" start method, or fork before the first use of CUDA");
}

/// The function that a driver calls during its waits; see ask_while_waiting().
struct WaitCallback {
    int (*keep_waiting)() = nullptr;
    pthread_t thread{};
};
WaitCallback wait_callback;

void pass_wait_callback(const Driver &driver) noexcept {
    const auto ask = driver.extensions().scuAskWhileWaiting;
    if (ask && wait_callback.keep_waiting)
        ask(wait_callback.keep_waiting, wait_callback.thread);
}

/// The driver's messages about failed kernels then name arrays, not blocks of pools.
void pass_block_sizes(const Driver &driver) noexcept {
    if (const auto ask = driver.extensions().scuAskForBlockSizes)
        ask(detail::bytes_in_use);
}

/// The check modes that are on in a new driver. Throws if PYCUDA_CHECK requests modes and the
/// driver has no check modes.
unsigned modes_of_new_driver(const Driver &driver) {
    if (const auto ask = driver.extensions().scuCheckModes)
        return ask();
    if (LibrarySearch::from_environment().check.empty())
        return 0;
    throw Error("PYCUDA_CHECK", CUDA_ERROR_NOT_SUPPORTED,
                "the driver " + driver.path() + " has no check modes; softcuda has them");
}

/// Opens the library that the search finds, unless it is already open.
const Driver &open_driver(DeviceProbe probe) {
    auto library = find_library(LibrarySearch::from_environment(), probe);
    if (const Driver *loaded = detail::loaded_driver.load())
        if (loaded->path() == library->path())
            return *loaded;
    const Driver &driver = DriverLoader::load(std::move(library));
    static int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
    check(registered == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM, "pthread_atfork");
    pass_wait_callback(driver);
    pass_block_sizes(driver);
    detail::mark_blocks_for(modes_of_new_driver(driver));
    detail::loaded_driver.store(&driver, std::memory_order_release);
    return driver;
}

CallerMutex &loading() {
    static auto *mutex = new CallerMutex;
    return *mutex;
}

} // namespace

const Driver &detail::load_driver() {
    if (is_forked_child.load())
        throw_forked();
    std::lock_guard lock(loading());
    if (const Driver *loaded = loaded_driver.load())
        return *loaded;
    return open_driver(DeviceProbe::OperatingSystem);
}

void *Driver::symbol(const char *name) const noexcept { return library_->symbol(name); }

const Driver *driver_for_cleanup() noexcept {
    return is_finalizing.load(std::memory_order_relaxed)
               ? nullptr
               : detail::loaded_driver.load(std::memory_order_acquire);
}

void init(unsigned flags) {
    if (is_forked_child.load())
        throw_forked();
    if (!is_decided.load()) {
        std::lock_guard lock(loading());
        open_driver(DeviceProbe::Driver);
        is_decided.store(true);
    }
    driver().cuInit(flags);
}

int driver_version() { return driver().version(); }

int header_version() noexcept { return CUDA_VERSION; }

void set_finalizing() noexcept {
    is_finalizing.store(true);
    end_library_calls();
}

bool finalizing() noexcept { return is_finalizing.load(std::memory_order_relaxed); }

bool interrupt_device_work() noexcept {
    const Driver *loaded = driver_for_cleanup();
    if (!loaded)
        return false;
    const auto interrupt = loaded->extensions().scuCtxInterrupt;
    CUcontext context = nullptr;
    if (!interrupt || loaded->cuCtxGetCurrent.status(&context) != CUDA_SUCCESS || !context)
        return false;
    return interrupt(context) == CUDA_SUCCESS;
}

void ask_while_waiting(int (*keep_waiting)(), pthread_t thread) noexcept {
    wait_callback = {keep_waiting, thread};
    if (const Driver *loaded = detail::loaded_driver.load())
        pass_wait_callback(*loaded);
}

} // namespace pycuda
