// nvidia_library.h -- a library of NVIDIA's (cuBLAS, cuSOLVER, cuFFT), opened at run time.
//
// A library is a table: one row of a .def file for each function, as
//
//     PYCUDA_LIBRARY_FUNCTION(gemm, cublasGemmStridedBatchedEx_64, (BlasHandle, int, ...))
//
// and each row becomes a member that is called like the function and throws if the function fails.
// To add a library: a .def file, a struct of its rows, open_table().
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/dtype.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pycuda {

/// A status that a library's functions return, and its name in the library's header.
struct LibraryStatus {
    int code;
    const char *name;
};

/// The description of a library.
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

template <class Signature> class LibraryFunction;

/// A function that returns a status, of which 0 is success.
template <class... Args> class LibraryFunction<int(Args...)> {
  public:
    using Pointer = int (*)(Args...);

    LibraryFunction(const NvidiaLibrary &library, const char *symbol)
        : library_(&library), symbol_(symbol),
          pointer_(reinterpret_cast<Pointer>(library.symbol(symbol))) {}

    /// Throws on any status but success.
    void operator()(Args... args) const {
        if (const int status = this->status(args...); status != 0) [[unlikely]]
            library_->fail(symbol_, status);
    }
    /// Returns the status instead of throwing. For destructors.
    int status(Args... args) const noexcept {
        if (!CallerLockUse::any()) [[likely]]
            return pointer_(args...);
        const CallerUnlocked unlocked; // the library may wait for the device, or for a full queue
        return pointer_(args...);
    }

    bool available() const noexcept { return pointer_ != nullptr; }

  private:
    const NvidiaLibrary *library_;
    const char *symbol_;
    Pointer pointer_;
};

/// One function for each of float32, float64, complex64, complex128.
template <class Signature> class TypedLibraryFunction {
  public:
    TypedLibraryFunction(const NvidiaLibrary &library, const char *single, const char *wide,
                         const char *complex, const char *wide_complex)
        : functions_{
              {library, single}, {library, wide}, {library, complex}, {library, wide_complex}} {}

    const LibraryFunction<Signature> &operator[](ScalarType type) const {
        const bool is_wide = type == ScalarType::Float64 || type == ScalarType::Complex128;
        const bool is_complex = type == ScalarType::Complex64 || type == ScalarType::Complex128;
        return functions_[(is_complex ? 2 : 0) + (is_wide ? 1 : 0)];
    }
    bool available() const noexcept {
        for (const LibraryFunction<Signature> &function : functions_)
            if (!function.available())
                return false;
        return true;
    }

  private:
    LibraryFunction<Signature> functions_[4];
};

/// cudaDataType of library_types.h. Empty for types that NVIDIA's libraries do not support.
std::optional<int> library_type(ScalarType type) noexcept;

/// float32, float64, complex64, complex128.
bool is_library_float(ScalarType type) noexcept;

/// The library with its table, opened once. Null if the library is not found, or if it is too old
/// and lacks a function (Table::complete()).
template <class Table> const Table *open_table(const LibraryDescription &description) {
    std::unique_ptr<NvidiaLibrary> library = NvidiaLibrary::open(description);
    if (library == nullptr)
        return nullptr;
    const auto *table = new Table(*library.release());
    return table->complete() ? table : nullptr;
}

} // namespace pycuda
