// nvidia_library.h -- a library of NVIDIA's (cuBLAS, cuSOLVER, cuFFT), opened at run time.
//
// A library is a table: one row of a .def file for each function, as
//
//     PYCUDA_LIBRARY_FUNCTION(gemm, cublasGemmStridedBatchedEx_64, (BlasHandle, int, ...))
//
// and each row becomes a member that is called like the function and throws if the function fails.
// To add a library: a .def file, and a struct of its rows, derived from LibraryTable:
//
//     struct Cublas : LibraryTable {
//         using LibraryTable::LibraryTable;
//         static constexpr LibraryDescription description{"cuBLAS", files, statuses};
//     #include "libraries/cublas.def"
//     };
//     library_table<Cublas>()->gemm(...)
#pragma once

#include "context/outside_captures.h"

#include <pycuda/caller_lock.h>
#include <pycuda/dtype.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace pycuda {

/// A status that a library's functions return, and its name in the library's header.
struct LibraryStatus {
    int code;
    const char *name;
};

struct LibraryDescription {
    const char *name;                        ///< "cuSOLVER"
    std::span<const char *const> files;      ///< newest first
    std::span<const LibraryStatus> statuses; ///< of failures
};

/// Which libraries may be opened, by $PYCUDA_LIBRARIES. The variable is read at the first use of a
/// library.
struct LibraryChoice {
    enum class Kind {
        Found,  ///< unset, "auto" or empty: those of the toolkits and wheels
        None,   ///< "none": no library, including NumPy's LAPACK and FFT
        Folder, ///< a path: only libraries in this folder, for every driver
    };
    Kind kind;
    std::string folder;

    static const LibraryChoice &get();
};

/// An opened library. It is never closed: handles live as long as the process.
class NvidiaLibrary {
  public:
    /// Null if the library is not found, cannot be opened, or is excluded by LibraryChoice. For a
    /// driver that loads PTX, which has no GPU, only a library in the driver's own folder is
    /// opened.
    static std::unique_ptr<NvidiaLibrary> open(const LibraryDescription &description);

    /// The function's address; null if this version lacks the function.
    void *symbol(const char *name) const noexcept;

    /// Throws Error (out of memory) or std::runtime_error, which names function and status.
    [[noreturn]] void fail(const char *function, int status) const;

  private:
    NvidiaLibrary(const LibraryDescription &description, void *handle)
        : description_(description), handle_(handle) {}
    const LibraryDescription &description_;
    void *handle_;
};

/// The base of a library's functions.
struct LibraryTable {
    explicit LibraryTable(const NvidiaLibrary &opened) : library(opened) {}
    const NvidiaLibrary &library;
    bool complete = true; ///< false if the library is too old and lacks a function
};

template <class Signature> class LibraryFunction;

/// Functions that not every version of a library has are optional.
enum class Presence { Required, Optional };

/// A function that returns a status, of which 0 is success.
template <class... Args> class LibraryFunction<int(Args...)> {
  public:
    using Pointer = int (*)(Args...);

    LibraryFunction(LibraryTable &table, const char *symbol, Presence presence = Presence::Required)
        : library_(&table.library), symbol_(symbol),
          pointer_(reinterpret_cast<Pointer>(table.library.symbol(symbol))) {
        table.complete &= pointer_ != nullptr || presence == Presence::Optional;
    }

    /// Throws on any status but success.
    void operator()(Args... args) const {
        if (const int status = this->status(args...); status != 0) [[unlikely]]
            library_->fail(symbol_, status);
    }
    /// Returns the status instead of throwing. For destructors.
    int status(Args... args) const noexcept {
        if (!CallerLockUse::any()) [[likely]]
            return pointer_(args...);
        const CallerUnlocked unlocked; // it calls the driver, as in driver.h
        return pointer_(args...);
    }

    bool available() const noexcept { return pointer_ != nullptr; }

  private:
    const NvidiaLibrary *library_;
    const char *symbol_;
    Pointer pointer_;
};

// The rows of a .def file, as members of a LibraryTable.
#define PYCUDA_LIBRARY_FUNCTION(member, symbol, parameters)                                        \
    LibraryFunction<int parameters> member{*this, #symbol};
#define PYCUDA_LIBRARY_OPTIONAL(member, symbol, parameters)                                        \
    LibraryFunction<int parameters> member{*this, #symbol, Presence::Optional};
#define PYCUDA_LIBRARY_TYPED(member, s, d, c, z, parameters)                                       \
    TypedLibraryFunction<int parameters> member{*this, #s, #d, #c, #z};

/// float64 and complex128, of the four types of a TypedLibraryFunction.
constexpr bool is_wide_float(ScalarType type) noexcept {
    return type == ScalarType::Float64 || type == ScalarType::Complex128;
}

/// One function for each of float32, float64, complex64, complex128.
template <class Signature> class TypedLibraryFunction {
  public:
    TypedLibraryFunction(LibraryTable &table, const char *single, const char *wide,
                         const char *complex, const char *wide_complex)
        : functions_{{table, single}, {table, wide}, {table, complex}, {table, wide_complex}} {}

    const LibraryFunction<Signature> &operator[](ScalarType type) const {
        return functions_[(is_complex(type) ? 2 : 0) + (is_wide_float(type) ? 1 : 0)];
    }

  private:
    LibraryFunction<Signature> functions_[4];
};

/// cudaDataType of library_types.h. Empty for types that NVIDIA's libraries do not support.
std::optional<int> library_type(ScalarType type) noexcept;

/// float32, float64, complex64, complex128.
bool is_library_float(ScalarType type) noexcept;

/// The address of the number 0 or 1 as the libraries read it for this type, real or complex.
const void *library_constant(int number, ScalarType type) noexcept;

/// An extent as the libraries' 32-bit functions take it. Throws std::invalid_argument.
int narrow_extent(std::int64_t value, const char *what);

/// The library with its table, opened once. Null if the library is not found, or is not complete.
template <class Table> const Table *library_table() {
    static const Table *const table = []() -> const Table * {
        std::unique_ptr<NvidiaLibrary> library = NvidiaLibrary::open(Table::description);
        if (library == nullptr)
            return nullptr;
        const auto *opened = new Table(*library.release());
        return opened->complete ? opened : nullptr;
    }();
    return table;
}

namespace detail {
void finish_library_setup();
}

/// Calls `make`, which makes a handle or a plan of a library: also in a capture, and with a wait
/// for what the library has queued in the default stream, such as copies of cuFFT's tables. A
/// non-blocking stream would not wait for it.
template <class Make> void set_up_library(Make &&make) {
    const detail::OutsideCaptures outside; // the library allocates and loads kernels
    make();
    detail::finish_library_setup();
}

template <class Table> struct LibraryState {
    LibraryState() { library_table<Table>()->create(&handle); }
    ~LibraryState() { (void)library_table<Table>()->destroy.status(handle); }
    LibraryState &operator=(LibraryState &&) = delete; // no copies either
    void *handle = nullptr;
};

/// The handle of a context, which is made at the first use. In the scope of this object, its calls
/// use one stream.
template <class Table> class LibraryCall {
  public:
    template <class State>
    LibraryCall(CallerMutex &mutex, std::shared_ptr<State> &state, StreamRef stream)
        : lock_(mutex) {
        const detail::OutsideCaptures outside; // the library may allocate
        if (state == nullptr)
            set_up_library([&] { state = std::make_shared<State>(); });
        handle_ = state->handle;
        library_table<Table>()->set_stream(handle_, stream.get());
    }
    void *handle() const noexcept { return handle_; }

  private:
    std::unique_lock<CallerMutex> lock_;
    void *handle_;
};

} // namespace pycuda
