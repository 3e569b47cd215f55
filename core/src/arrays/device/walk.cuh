// walk.cuh -- what all walks of elementwise kernels share.
//
// The generated text in front of this file defines, for results called out0, out1 ..., operands
// called p0, p1 ... and the mask:
//
//   type_out0, type_p0, type_mask    the types in memory
//   struct Results                   a member for each result
//   COMPUTE(index, x)                computes Results; x(p0) is the text for an element of p0
//   PARAMETERS                       of the kernel, except the last one
//   RESULTS(X)                       X(out0) X(out1) ...
//   OPERANDS(X), MASKS(X)            the same for operands and the mask read element by element
//   SINGLES(X)                       the same for operands of one element
//   SINGLE_MASK                      1 if the mask has one element
//   IF_MASK(x)                       "if (x(mask))", or nothing
//   LENGTH                           elements of a pack
//   IN_TURN                          1 if a thread computes its elements in a loop
//   ONE_LOOP                         of walk_rolled.cuh
//   Index, AXES, ROWS, UNIT_STEPS, KEPT(X), NOT_KEPT(X), ANY_KEPT    of walk_strided.cuh
#pragma once

constexpr int block = 256, per_thread = 4;

#define READ_SINGLE(name) const type_##name single_##name = *name;
#if SINGLE_MASK
#define BEGIN                                                                                      \
    SINGLES(READ_SINGLE)                                                                           \
    if (!*mask)                                                                                    \
    return
#else
#define BEGIN SINGLES(READ_SINGLE)
#endif

#define ELEMENT_I(name) name[i]
#define STORE_I(name) name[i] = results.name;
/// Computes element i.
#define COMPUTE_I                                                                                  \
    IF_MASK(ELEMENT_I) {                                                                           \
        const Results results = COMPUTE(i, ELEMENT_I);                                             \
        RESULTS(STORE_I)                                                                           \
    }
