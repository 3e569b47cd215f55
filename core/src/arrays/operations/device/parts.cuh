// parts.cuh -- several copies of strided words in one launch: blockIdx.y is the number of the copy.
//
// The text before this file defines:
//
//   Word         the words that are copied
//   PARTS        the most copies of a launch
//   AXES         the most axes of a copy. Copies with fewer axes have leading ones of extent 1
#pragma once

struct Part {
    char *to;
    const char *from;
    unsigned long long words;
    unsigned long long extents[AXES];
    long long to_steps[AXES], from_steps[AXES];
};

struct Parts {
    Part part[PARTS];
};

extern "C" __global__ void __launch_bounds__(256) KERNEL(Parts parts) {
    const Part &part = parts.part[blockIdx.y];
    const unsigned words = unsigned(part.words), threads = gridDim.x * 256;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < words; i += threads) {
        unsigned rest = i;
        long long to = 0, from = 0;
#pragma unroll
        for (int axis = AXES - 1; axis > 0; --axis) {
            const unsigned extent = unsigned(part.extents[axis]), whole = rest / extent;
            const long long place = rest - whole * extent;
            to += place * part.to_steps[axis];
            from += place * part.from_steps[axis];
            rest = whole;
        }
        to += rest * part.to_steps[0];
        from += rest * part.from_steps[0];
        *reinterpret_cast<Word *>(part.to + to) = *reinterpret_cast<const Word *>(part.from + from);
    }
}
