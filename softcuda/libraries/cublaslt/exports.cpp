// exports.cpp -- cublasLt's handle and the functions that compute or choose an algorithm.
#include "matmul.h"

#include "../common/call.h"
#include "../common/logger.h"
#include "../common/openblas.h"
#include "../common/version.h"

#include <algorithm>
#include <atomic>
#include <cstring>

using namespace softcublaslt;
using softlib::Failure;
using softlib::require;

namespace softlib {
const Statuses statuses = {"cublasLt", 0, 1, 7, 3, 13, 14, 15};
} // namespace softlib

namespace {

// cublasLtHandle_t points to the same struct as cublasHandle_t: programs pass one as the other.
using Handle = cublasContext *;
using softcublas::checked;

/// cublasLtMatmulHeuristicResult_t.
struct Result {
    Algorithm algorithm;
    std::size_t workspace;
    int state;
    float waves;
    int reserved[4];
};
static_assert(sizeof(Result) == 96);

Matmul matmul_of(const MatmulDescription *description, const Layout *a, const Layout *b,
                 const Layout *c, const Layout *d) {
    require(description != nullptr && a != nullptr && b != nullptr && c != nullptr && d != nullptr,
            "descriptors");
    Matmul made{*description, *a, *b, *c, *d};
    made.check();
    return made;
}

Result success() {
    Result result{};
    result.waves = 1;
    return result;
}

/// alpha or beta: copied from the host's memory, or read on the device at its turn.
class Scalar {
  public:
    Scalar(const softlib::Session &session, ElementType type, const void *address, bool on_device,
           std::int64_t count, const char *what) {
        if (address == nullptr && count == 0)
            return;
        require(address != nullptr, what);
        if (on_device) {
            const softlib::Count bytes = softlib::Count(count) * softlib::size_of(type);
            session.check_memory(address, static_cast<std::size_t>(bytes.get()), what);
            device_ = address;
        } else {
            std::memcpy(value_, address, softlib::size_of(type));
        }
    }
    const void *get() const { return device_ != nullptr ? device_ : value_; }
    /// Whether the value is known at the call, and is not 0.
    bool is_not_zero(ElementType type) const {
        double parts[2] = {};
        if (device_ == nullptr)
            softlib::widen(type, value_, parts, softlib::is_complex_type(type) ? 2 : 1);
        return parts[0] != 0 || parts[1] != 0;
    }

  private:
    const void *device_ = nullptr;
    alignas(16) char value_[16] = {};
};

double operations(const Matmul &matmul) {
    const softcublas::Shape shape = matmul.shape();
    return static_cast<double>(shape.m) * static_cast<double>(shape.n) *
           (static_cast<double>(shape.k) + 8) * matmul.layout_d.batch;
}

/// C = alpha op(A) + beta op(B).
template <class T>
void transform(const TransformDescription &how, ElementType scale, const void *alpha, const void *a,
               const Layout &of_a, const void *beta, const void *b, const Layout &of_b, void *c,
               const Layout &of_c) {
    const auto load = [](const Layout &layout, const void *data, std::int64_t batch, int op,
                         std::uint64_t row, std::uint64_t column) {
        if (op != 0)
            std::swap(row, column);
        const std::int64_t place =
            layout.place(static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)) +
            (layout.batch > 1 ? batch : 0) * layout.stride;
        T value{};
        softlib::widen(layout.element(),
                       static_cast<const char *>(data) +
                           place * std::int64_t(softlib::size_of(layout.element())),
                       &value, 1);
        return value;
    };
    T by{}, keep{};
    softlib::widen(scale, alpha, &by, 1);
    softlib::widen(scale, beta, &keep, 1);
    for (int batch = 0; batch < of_c.batch; ++batch)
        for (std::uint64_t row = 0; row < of_c.rows; ++row)
            for (std::uint64_t column = 0; column < of_c.columns; ++column) {
                T sum{};
                if (by != T{})
                    sum += by * load(of_a, a, batch, how.op_a, row, column);
                if (keep != T{})
                    sum += keep * load(of_b, b, batch, how.op_b, row, column);
                const std::int64_t place =
                    of_c.place(static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)) +
                    batch * of_c.stride;
                softlib::narrow_to(of_c.element(), &sum,
                                   static_cast<char *>(c) +
                                       place * std::int64_t(softlib::size_of(of_c.element())),
                                   1);
            }
}

} // namespace

#define DEFINE(name, parameters, ...) SOFTLIB_FUNCTION(cublasLt##name, parameters, __VA_ARGS__)

DEFINE(Create, (Handle * handle), softlib::make_handle(handle))
DEFINE(Destroy, (Handle handle), { softlib::destroy(handle); })
SOFTLIB_EXPORT std::size_t cublasLtGetVersion() {
    return static_cast<std::size_t>(softlib::version);
}
/// The version of CUDA with which the library was built: 12090 or 13000.
SOFTLIB_EXPORT std::size_t cublasLtGetCudartVersion() {
    return softlib::version_parts[0] == 12 ? 12090 : 13000;
}
SOFTLIB_PROPERTY(cublasLtGetProperty)

namespace {
constexpr struct {
    int status;
    const char *name, *text;
} names[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the program failed to execute"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality is not supported"},
};
const char *describe(int status, bool name) {
    for (const auto &known : names)
        if (known.status == status)
            return name ? known.name : known.text;
    return "unknown status";
}
} // namespace
SOFTLIB_EXPORT const char *cublasLtGetStatusName(int status) { return describe(status, true); }
SOFTLIB_EXPORT const char *cublasLtGetStatusString(int status) { return describe(status, false); }

DEFINE(Matmul,
       (Handle handle, const MatmulDescription *description, const void *alpha, const void *a,
        const Layout *of_a, const void *b, const Layout *of_b, const void *beta, const void *c,
        const Layout *of_c, void *d, const Layout *of_d, const Algorithm *, void *, std::size_t,
        CUstream stream),
       {
           softlib::Session &session = checked(handle).session;
           const Matmul matmul = matmul_of(description, of_a, of_b, of_c, of_d);
           matmul.check_memory(session, a, b, c, d);
           const ElementType scale = matmul.types().scale;
           const int mode = description->pointer_mode;
           const auto rows = static_cast<std::int64_t>(of_d->rows);
           const bool one = mode < 2;
           const Scalar first(session, scale, alpha, mode != 0, one ? 1 : rows, "alpha");
           const Scalar second(session, scale, beta, mode == 1 || mode == 2,
                               one || mode == 4 ? 1
                               : mode == 2      ? rows
                                                : 0,
                               "beta");
           require(c != nullptr || !second.is_not_zero(scale), "C");
           session.enqueue(
               "cublasLtMatmul", [=] { matmul.run(first.get(), a, b, second.get(), c, d); },
               operations(matmul), softlib::Threads::All, stream);
       })

DEFINE(MatrixTransform,
       (Handle handle, const TransformDescription *description, const void *alpha, const void *a,
        const Layout *of_a, const void *beta, const void *b, const Layout *of_b, void *c,
        const Layout *of_c, CUstream stream),
       {
           softlib::Session &session = checked(handle).session;
           require(description != nullptr && of_a != nullptr && of_c != nullptr, "descriptors");
           const Layout left = *of_a, result = *of_c, right = of_b != nullptr ? *of_b : Layout{};
           const TransformDescription how = *description;
           const auto matches = [&](const Layout &layout, int op) {
               return (op == 0 ? layout.rows : layout.columns) == result.rows &&
                      (op == 0 ? layout.columns : layout.rows) == result.columns &&
                      (layout.batch == result.batch || layout.batch == 1) &&
                      !softlib::is_complex_type(layout.element());
           };
           const auto scale = static_cast<ElementType>(how.scale);
           for (const Layout *layout : {&left, &result})
               layout->check();
           if (b != nullptr)
               right.check();
           if (softlib::size_of(scale) == 0)
               throw Failure(softlib::statuses.not_supported, "the scale's type");
           if (softlib::is_complex_type(result.element()) || softlib::is_complex_type(scale))
               throw Failure(softlib::statuses.not_supported,
                             "a transformation of complex matrices is not supported");
           require(matches(left, how.op_a) && (b == nullptr || matches(right, how.op_b)),
                   "the shapes and orders of the matrices");
           const auto check = [&](const void *data, const Layout &layout, const char *what) {
               session.check_memory(data, static_cast<std::size_t>(layout.bytes().get()), what);
           };
           check(a, left, "A");
           if (b != nullptr)
               check(b, right, "B");
           check(c, result, "C");
           const Scalar first(session, scale, alpha, how.pointer_mode == 1, 1, "alpha");
           const Scalar second(session, scale, beta, how.pointer_mode == 1,
                               b == nullptr && beta == nullptr ? 0 : 1, "beta");
           session.enqueue(
               "cublasLtMatrixTransform",
               [=] {
                   if (scale == ElementType::Float64 || scale == ElementType::Int32)
                       transform<double>(how, scale, first.get(), a, left, second.get(), b, right,
                                         c, result);
                   else
                       transform<float>(how, scale, first.get(), a, left, second.get(), b, right, c,
                                        result);
               },
               8.0 * static_cast<double>(result.extent()) * result.batch, softlib::Threads::One,
               stream);
       })

// There is one algorithm, with the number 0.
#define HEURISTIC_PARAMETERS                                                                       \
    Handle handle, const MatmulDescription *description, const Layout *a, const Layout *b,         \
        const Layout *c, const Layout *d
namespace {
void choose(Handle handle, const Matmul &, int requested, Result *results, int *count) {
    static_cast<void>(checked(handle));
    require(requested > 0 && results != nullptr && count != nullptr, "the results' memory");
    results[0] = success();
    *count = 1;
}
} // namespace
DEFINE(MatmulAlgoGetHeuristic,
       (HEURISTIC_PARAMETERS, const Preference *, int requested, Result *results, int *count),
       choose(handle, matmul_of(description, a, b, c, d), requested, results, count))
DEFINE(MatmulAlgoGetHeuristicForStream,
       (HEURISTIC_PARAMETERS, const Preference *, int requested, Result *results, int *count,
        CUstream),
       choose(handle, matmul_of(description, a, b, c, d), requested, results, count))
DEFINE(MatmulAlgoCheck, (HEURISTIC_PARAMETERS, const Algorithm *algorithm, Result *result), {
    static_cast<void>(checked(handle));
    static_cast<void>(matmul_of(description, a, b, c, d));
    require(algorithm != nullptr && result != nullptr, "algo and result");
    *result = success();
    result->algorithm = *algorithm;
})
DEFINE(MatmulAlgoGetIds,
       (Handle handle, int, int, int, int, int, int, int requested, int *ids, int *count), {
           static_cast<void>(checked(handle));
           require(requested > 0 && ids != nullptr && count != nullptr, "the results' memory");
           ids[0] = 0;
           *count = 1;
       })
DEFINE(MatmulAlgoInit, (Handle handle, int, int, int, int, int, int, int id, Algorithm *algorithm),
       {
           static_cast<void>(checked(handle));
           require(id == 0 && algorithm != nullptr, "algoId and algo");
           *algorithm = {};
       })

namespace {
/// What the algorithm can do: an attribute of cublasLtMatmulAlgoCapAttributes_t has 4 bytes or,
/// that of the implementation, 8.
std::uint64_t capability(int attribute) {
    switch (attribute) {
    case 0:  // split K, and
    case 1:  // its reductions
    case 2:  // swizzling
    case 5:  // one triangle of the result
    case 6:  // tiles and
    case 13: // stages: one, CUBLASLT_MATMUL_TILE_UNDEFINED and _STAGES_UNDEFINED
    case 7:  // the last custom option
    case 10: // other orders than columns and rows
    case 14: // negative leading dimensions
    case 21: // arrays of addresses,
    case 22: // emulation
    case 23: // and groups
        return 0;
    case 3: // strided batches
    case 4: // D is not C
        return 1;
    case 11:
        return 0x1f; // all pointer modes
    case 12:
        return Relu | Bias | ReluGradient | BiasGradient | Gelu | GeluGradient | Auxiliary;
    case 15:
        return 1; // CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA
    case 16:
    case 17:
    case 18:
    case 19:
        return 1; // the alignments
    default:
        throw Failure(softlib::statuses.not_supported, "this capability is not supported");
    }
}

std::atomic<std::size_t> heuristics_capacity{8192};
} // namespace
DEFINE(MatmulAlgoCapGetAttribute,
       (const Algorithm *algorithm, int attribute, void *data, std::size_t bytes,
        std::size_t *written),
       {
           require(algorithm != nullptr, "algo");
           const std::uint64_t value = capability(attribute);
           const std::size_t size = attribute == 15 ? 8 : 4;
           require(bytes == 0 ? written != nullptr : data != nullptr && bytes >= size,
                   "buf and sizeInBytes");
           if (written != nullptr)
               *written = size;
           if (bytes != 0)
               std::memcpy(data, &value, size); // little-endian
       })
// The heuristic needs no cache: its capacity is kept for the client alone.
DEFINE(HeuristicsCacheSetCapacity, (std::size_t capacity), heuristics_capacity = capacity)
DEFINE(HeuristicsCacheGetCapacity, (std::size_t *capacity), {
    require(capacity != nullptr, "capacity");
    *capacity = heuristics_capacity;
})
SOFTLIB_LOGGER(cublasLt)
