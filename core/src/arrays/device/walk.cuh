// walk.cuh -- the common part of all walks of elementwise kernels.
//
// The generated text before this file defines, for results called out0, out1 ..., operands
// called p0, p1 ... and the mask:
//
//   KERNEL                           the kernel's name
//   type_out0, type_p0, type_mask    the types in memory
//   struct Results                   a member for each result
//   COMPUTE(index, x)                computes Results; x(p0) is the expression for an element of p0
//   PARAMETERS                       of the kernel, except the last one
//   RESULTS(X)                       X(out0) X(out1) ...
//   OPERANDS(X), MASKS(X)            the same for operands and the mask, if read element by element
//   WALKED(X)                        all of these
//   IN_PLACE                         1 if COMPUTE is a user's statements, which read and write
//                                    elements themselves: x(p0) is the expression for the
//                                    address of an element; arrays are only in WALKED, IN_TURN is 1
//   PROMISES                         statements that tell the compiler the arrays' alignment
//   SINGLES(X)                       the same for operands of one element
//   SINGLE_MASK                      1 if the mask has one element
//   IF_MASK(x)                       "if (x(mask))", or nothing
//   LENGTH                           elements of a pack
//   IN_TURN                          1 if a thread computes its elements in a loop
//   ROLLED                           1 if warps are vectors of a CPU
//   ONE_LOOP                         of walk_rolled.cuh
//   Index, AXES, ROWS, UNIT_STEPS, HAS_STEP, STEP_p0, KEPT(X), NOT_KEPT(X), ANY_KEPT    of
//                                    walk_strided.cuh
#pragma once

constexpr int block = 256, per_thread = 4;

/// The first element of thread x, if each warp has a piece of 32 * per_thread elements. Written as
/// x plus a number that is the same for a warp.
#define FIRST_IN_PIECE(x) ((x) + (x) / 32 * (32 * (per_thread - 1)))

#define READ_SINGLE(name) const type_##name single_##name = *name;
#if SINGLE_MASK
#define BEGIN                                                                                      \
    PROMISES                                                                                       \
    SINGLES(READ_SINGLE)                                                                           \
    if (!*mask)                                                                                    \
    return
#else
#define BEGIN                                                                                      \
    PROMISES                                                                                       \
    SINGLES(READ_SINGLE)
#endif

/// Computes one element, if its mask is true. `element`, `place` and `store` are the macros for its
/// value in an array, for its address, and for writing a result.
#if IN_PLACE
#define EVALUATE(index, element, place, store) COMPUTE(index, place);
#else
#define EVALUATE(index, element, place, store)                                                     \
    IF_MASK(element) {                                                                             \
        const Results results = COMPUTE(index, element);                                           \
        RESULTS(store)                                                                             \
    }
#endif

#ifdef AXES // of walk_strided.cuh and walk_tiles.cuh
#define WALKER(name) walker_##name,
enum Walker { WALKED(WALKER) walkers };
struct Geometry {
    Index n, rows, extent[AXES], stride[AXES][walkers];
};
#define OFFSET(name) Index offset_##name = 0;
#define ADVANCE(name) offset_##name += at * g.stride[axis][walker_##name];
#endif

#define ELEMENT_I(name) name[i]
#define PLACE_I(name) (name + i)
#define STORE_I(name) name[i] = results.name;
/// Computes element i.
#define COMPUTE_I EVALUATE(i, ELEMENT_I, PLACE_I, STORE_I)
