// thrust_headers.cpp -- headers that make Thrust compile in NVRTC.
#include "thrust_headers.h"

namespace pycuda::compile_detail {

const char *text_of_thrust_header() {
    return R"(#pragma once
#undef __host__
#define __host__
#define throw __trap(),
#ifndef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
#include <cuda/std/iterator>
#if __has_include(<cuda/std/memory>)
#include <cuda/std/memory>
#endif
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <thrust/detail/config.h>
namespace std {
using namespace cuda::std;
template <class Iterator> struct iterator_traits : cuda::std::iterator_traits<Iterator> {};
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
}
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
