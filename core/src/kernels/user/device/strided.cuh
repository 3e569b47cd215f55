// strided.cuh -- an array argument with strides.
//
// `x[i]` numbers the elements in C order, so the last index varies fastest:
//
//     shape (3, 4), i = 6  ->  row 1, column 2  ->  address + 1 * stride[0] + 2 * stride[1]
#pragma once

namespace pycuda {

/// The extents of one or more arrays of the same shape.
template <int D> struct Extents {
    unsigned long long extent[D];
};

/// A strided array as it is passed to a kernel. Strides are in bytes.
template <class T, int D> struct StridedArgument {
    T *data;
    long long stride[D];
};

/// A strided array as a kernel uses it. Index is wide enough for its elements.
template <class T, int D, class Index> class Strided {
  public:
    __device__ Strided(const StridedArgument<T, D> &argument, const Extents<D> &extents,
                       Index first = 0)
        : data_(argument.data), first_(first) {
        for (int d = 0; d < D; ++d) {
            stride_[d] = argument.stride[d];
            extent_[d] = static_cast<Index>(extents.extent[d]);
        }
    }
    __device__ T &operator[](Index i) const {
        i += first_;
        long long offset = 0;
#pragma unroll
        for (int d = D - 1; d > 0; --d) {
            const Index next = i / extent_[d];
            offset += static_cast<long long>(i - next * extent_[d]) * stride_[d];
            i = next;
        }
        offset += static_cast<long long>(i) * stride_[0];
        return *reinterpret_cast<T *>(const_cast<char *>(reinterpret_cast<const char *>(data_)) +
                                      offset);
    }
    __device__ T &operator*() const { return (*this)[0]; }
    __device__ Strided operator+(Index count) const {
        Strided moved = *this;
        moved.first_ += count;
        return moved;
    }

  private:
    T *data_;
    Index first_;
    long long stride_[D];
    Index extent_[D];
};

} // namespace pycuda
