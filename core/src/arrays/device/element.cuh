// element.cuh -- an array of which a user's statements access one element.
#pragma once

/// `x[i]` is the element, for every index.
template <class T> struct pycuda_element {
    T *place;
    __device__ __forceinline__ T &operator[](unsigned long long) const { return *place; }
};
