// host_library_headers.cpp -- headers that make libraries of the host compile in NVRTC.
#include "compile/source/host_library_headers.h"

#include <algorithm>
#include <iterator>

namespace pycuda::compile_detail {
namespace {

struct HostLibrary {
    std::string_view folder; // with which the names of its headers begin
    std::string_view name;
};

constexpr HostLibrary libraries[] = {{"thrust/", "Thrust"},
                                     {"Eigen/", "Eigen"},
                                     {"eigen3/", "Eigen"},
                                     {"unsupported/Eigen/", "Eigen"},
                                     {"Random123/", "Random123"}};

} // namespace

std::string_view host_library_of(std::string_view header) {
    const auto *found = std::ranges::find_if(libraries, [header](const HostLibrary &library) {
        return header.starts_with(library.folder);
    });
    return found == std::end(libraries) ? std::string_view() : found->name;
}

const char *text_of_host_library_header() {
    return R"(#pragma once
#undef __host__
#define __host__
#define throw __trap(),
#define RAND_MAX 2147483647
#ifndef __NVCC_DIAG_PRAGMA_SUPPORT__
#define __NVCC_DIAG_PRAGMA_SUPPORT__ 1
#endif
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#if __has_include(<cuda/std/memory>)
#include <cuda/std/memory>
#endif
#include <cuda/std/type_traits>
#include <cuda/std/utility>
__device__ inline double fminl(double a, double b) { return fmin(a, b); }
__device__ inline double fmaxl(double a, double b) { return fmax(a, b); }
namespace std {
using namespace cuda::std;
template <class Iterator> struct iterator_traits : cuda::std::iterator_traits<Iterator> {};
template <class T> struct numeric_limits : cuda::std::numeric_limits<T> {};
template <> struct numeric_limits<long double> : cuda::std::numeric_limits<double> {};
struct exception {
    virtual ~exception() = default;
    virtual const char *what() const noexcept { return ""; }
};
struct bad_alloc : exception {};
struct logic_error : exception { explicit logic_error(const char *) {} };
struct invalid_argument : logic_error { using logic_error::logic_error; };
struct domain_error : logic_error { using logic_error::logic_error; };
struct length_error : logic_error { using logic_error::logic_error; };
struct out_of_range : logic_error { using logic_error::logic_error; };
struct runtime_error : exception { explicit runtime_error(const char *) {} };
struct range_error : runtime_error { using runtime_error::runtime_error; };
struct overflow_error : runtime_error { using runtime_error::runtime_error; };
struct underflow_error : runtime_error { using runtime_error::runtime_error; };
struct nothrow_t {};
inline void *realloc(void *, size_t) { __trap(); return nullptr; }
inline int rand() { __trap(); return 0; }
[[noreturn]] inline void terminate() { __trap(); while (true) {} }
struct string {
    string() = default;
    string(const char *) {}
    const char *c_str() const { __trap(); return ""; }
    size_t size() const { __trap(); return 0; }
    size_t length() const { __trap(); return 0; }
    char operator[](size_t) const { __trap(); return 0; }
    template <class T> string &operator+=(const T &) { __trap(); return *this; }
    friend string operator+(const string &a, const string &) { __trap(); return a; }
};
template <class T> string to_string(const T &) { __trap(); return {}; }
template <class T> struct hash;
template <class T> struct shared_ptr;
struct ios_base {
    typedef int fmtflags;
    fmtflags flags() const { __trap(); return 0; }
    fmtflags flags(fmtflags) { __trap(); return 0; }
    long precision() const { __trap(); return 0; }
    long precision(long) { __trap(); return 0; }
    long width() const { __trap(); return 0; }
    long width(long) { __trap(); return 0; }
    char fill() const { __trap(); return ' '; }
    char fill(char) { __trap(); return ' '; }
    template <class T> void copyfmt(const T &) { __trap(); }
};
struct ostream : ios_base {
    template <class T> ostream &operator<<(const T &) { __trap(); return *this; }
};
struct istream : ios_base {
    template <class T> istream &operator>>(T &) { __trap(); return *this; }
};
struct stringstream : ostream {
    string str() const { __trap(); return {}; }
};
}
)";
}

bool HostVariables::add(std::string_view log) {
    const bool is_new = in_functions.add(
        log, "dynamic initialization is not supported for a function-scope static");
    return at_scope.add(log, "dynamic initialization is not supported for a __device__ variable") ||
           is_new;
}

std::string replace_host_variables(std::string_view text, const std::set<std::string> &files,
                                   const HostVariables &variables) {
    constexpr std::string_view word = "static ";
    std::string changed;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
        std::string written(text.substr(0, length));
        text.remove_prefix(length);
        const auto is_in = [&](const ReportedLines &lines) {
            return std::ranges::any_of(
                files, [&](const std::string &file) { return lines.any(file, line, line); });
        };
        const std::size_t at = written.find(word);
        if (at != std::string::npos && is_in(variables.in_functions)) {
            written.replace(at, word.size(), "__trap(); ");
        } else if (at != std::string::npos && is_in(variables.at_scope)) {
            const std::size_t end = written.find(';', at);
            const std::size_t value = written.find_first_of("=(", at); // x = 1; or x(1);
            if (value < end)
                written.erase(value, end - value);
            written.replace(at, word.size(), "extern ");
        }
        changed += written;
    }
    return changed;
}

const char *text_of_thrust_header() {
    return R"(#pragma once
#ifndef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
#include <thrust/detail/config.h>
THRUST_NAMESPACE_BEGIN
template <typename, typename, typename, typename> class pointer;
THRUST_NAMESPACE_END
namespace cuda { namespace std {
template <class Element, class Tag, class Reference, class Derived>
struct iterator_traits<THRUST_NS_QUALIFIER::pointer<Element, Tag, Reference, Derived>> {
    using pointer = THRUST_NS_QUALIFIER::pointer<Element, Tag, Reference, Derived>;
    using iterator_category = typename pointer::iterator_category;
    using value_type = typename pointer::value_type;
    using difference_type = typename pointer::difference_type;
    using reference = typename pointer::reference;
};
} }
)";
}

const char *text_of_thrust_bad_alloc_header() {
    return R"(#pragma once
#include <thrust/detail/config.h>
THRUST_NAMESPACE_BEGIN
namespace system { namespace detail {
struct bad_alloc : std::bad_alloc { explicit bad_alloc(const char *) {} };
} }
THRUST_NAMESPACE_END
)";
}

} // namespace pycuda::compile_detail
