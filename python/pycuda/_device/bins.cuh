// bins.cuh -- the bin of an element.
//
// Defined before this file: using T, the type of the elements.
#pragma once

struct Bins {
    const double *edges;
    long long count;
};

// The bin of an element, or -1. uniform: whether the edges rise by equal steps.
__device__ long long bin_of(T value, const Bins &bins, bool uniform) {
    if (bins.edges == nullptr)
        return static_cast<long long>(value);
    const double x = static_cast<double>(value);
    const double first = bins.edges[0], last = bins.edges[bins.count];
    if (!(x >= first && x <= last))
        return -1;
    if (uniform) {
        const double at = (x - first) / (last - first) * bins.count;
        long long bin = static_cast<long long>(at);
        bin = bin < bins.count - 1 ? bin : bins.count - 1;
        if (x < bins.edges[bin])
            --bin;
        else if (bin != bins.count - 1 && x >= bins.edges[bin + 1])
            ++bin;
        return bin;
    } else {
        long long low = 0, high = bins.count - 1; // the last one whose edge is not greater
        while (low < high) {
            const long long middle = (low + high + 1) / 2;
            if (bins.edges[middle] <= x)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
}
