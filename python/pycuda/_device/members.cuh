// members.cuh -- whether elements are in a small sorted set.
//
// Defined before this file: using T, the type of the elements; constexpr int most, the most
// elements of a set.
#pragma once

// A block copies the set to shared memory, and its threads search there.
extern "C" __global__ void __launch_bounds__(256)
    members(const T *elements, long long count, const T *set, int size, bool *found, int invert) {
    __shared__ T own[most];
    for (int i = threadIdx.x; i < size; i += 256)
        own[i] = set[i];
    __syncthreads();
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
        const T element = elements[i];
        int low = 0, high = size;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (own[middle] < element)
                low = middle + 1;
            else
                high = middle;
        }
        found[i] = (low < size && own[low] == element) != (invert != 0);
    }
}
