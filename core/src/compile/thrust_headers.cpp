// thrust_headers.cpp -- headers that make Thrust compile in NVRTC.
#include "thrust_headers.h"

namespace pycuda::compile_detail {

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
