// walk_strided.cuh -- strided and broadcast elements, whose addresses are computed from indices.
//
// Rows: each block computes the outer indices once for all of its threads; the threads advance
// along the last axis. ROLLED: each warp has one piece of the row, as in walk_rolled.cuh.
// Flat: each thread computes all indices of an element.
#pragma once

#define AT(name, bytes) (*(type_##name *)((char *)name + (bytes)))

#if UNIT_STEPS
#define ALONG(name) x *Index(sizeof(type_##name))
#elif HAS_STEP
#define ALONG(name) x *(STEP_##name * Index(sizeof(type_##name)))
#else
#define ALONG(name) x *g.stride[AXES - 1][walker_##name]
#endif

#if ROWS

#define ELEMENT_X(name) AT(name, offset_##name + ALONG(name))
#define PLACE_X(name) (&ELEMENT_X(name))
#define STORE_X(name) ELEMENT_X(name) = results.name;
#define ARRAY(name) type_##name array_##name[per_thread];
#define LOAD(name) array_##name[u] = ELEMENT_X(name);
#define LOADED(name) array_##name[u]
#if ROLLED
#define FIRST_OF_ROW FIRST_IN_PIECE(threadIdx.x)
#define NEXT_IN_ROW 32
#else
#define FIRST_OF_ROW threadIdx.x
#define NEXT_IN_ROW Index(blockDim.x)
#endif
/// Runs its arguments for each element `x` of a row that a thread has.
#define EACH_ELEMENT(...)                                                                          \
    _Pragma("unroll") for (int u = 0; u < per_thread; ++u) {                                       \
        const Index x = first + u * NEXT_IN_ROW;                                                   \
        if (x < inner) {                                                                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

extern "C" __global__ void __launch_bounds__(block) KERNEL(PARAMETERS, Geometry g) {
    BEGIN;
    const Index inner = g.extent[AXES - 1], rows = g.rows;
    const Index first = blockIdx.x * (blockDim.x * per_thread) + FIRST_OF_ROW;
#if ANY_KEPT
    WALKED(OFFSET);
    KEPT(ARRAY);
    EACH_ELEMENT(KEPT(LOAD))
#endif
    for (Index row = blockIdx.y * blockDim.y + threadIdx.y; row < rows;
         row += gridDim.y * blockDim.y) {
        WALKED(OFFSET);
#if AXES > 1
        FOR_EACH_AXIS(row, AXES - 2, g.extent, WALKED(ADVANCE))
#endif
#if IN_TURN
#pragma unroll 1
        for (int u = 0; u < per_thread; ++u) {
            const Index x = first + u * NEXT_IN_ROW;
            if (x < inner)
                EVALUATE((unsigned long long)row * inner + x, ELEMENT_X, PLACE_X, STORE_X)
        }
#else
        // All loads come before the first store, as in walk_elements.cuh.
        MASKS(ARRAY);
        NOT_KEPT(ARRAY);
        EACH_ELEMENT(MASKS(LOAD) NOT_KEPT(LOAD))
        EACH_ELEMENT(EVALUATE((unsigned long long)row * inner + x, LOADED, PLACE_X, STORE_X))
#endif
    }
}

#else

#define ELEMENT_AT_OFFSET(name) AT(name, offset_##name)
#define PLACE_AT_OFFSET(name) (&ELEMENT_AT_OFFSET(name))
#define STORE_AT_OFFSET(name) ELEMENT_AT_OFFSET(name) = results.name;

extern "C" __global__ void __launch_bounds__(block) KERNEL(PARAMETERS, Geometry g) {
    BEGIN;
    const Index first = blockIdx.x * Index(blockDim.x * per_thread) + threadIdx.x;
    constexpr int copies = IN_TURN ? 1 : per_thread;
#pragma unroll copies
    for (int u = 0; u < per_thread; ++u) {
        const Index i = first + u * Index(blockDim.x);
        if (i >= g.n)
            return;
        WALKED(OFFSET);
        FOR_EACH_AXIS(i, AXES - 1, g.extent, WALKED(ADVANCE))
        EVALUATE(i, ELEMENT_AT_OFFSET, PLACE_AT_OFFSET, STORE_AT_OFFSET)
    }
}

#endif
