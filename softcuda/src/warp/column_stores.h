// column_stores.h -- stores in which each column of a thread block writes adjacent elements.
//
//     out[x * height + y] = in[y * width + x];      x, y: of the thread
//
// A warp, one row of the block, stores each element to another line of memory, and the next warp
// stores the element beside it. If a row is a power of two bytes long, all lines share few places
// in the processor's cache, which then fetches every line again for every row:
//
//     warp 0    a b c d      row by row:            a . .   b . .   c . .   d . .
//     warp 1    e f g h                             a e .   b f .   c g .   d h .
//     warp 2    i j k l      column by column:      a e i   b f j   c g k   d h l
//
// So warps keep the values of such a store if the lines are a multiple of 1 KB apart, and after the
// last warp one access writes the elements of each column (codegen/column_writer.h). The store must
// be the last access of its thread in the region: no thread may observe the delay without a race.
#pragma once

namespace softcuda::warp {

struct KernelPlan;
struct AccessPlan;

/// Sets AccessPlan::row_step. Needs the final plans of all accesses.
void find_column_stores(KernelPlan &plan);

/// How the rows of a thread block are parts of its warps.
struct BlockRows {
    explicit BlockRows(const KernelPlan &plan);
    unsigned lanes;   ///< of a row in one warp
    unsigned parts;   ///< warps of a row; 1 if a warp has several rows
    unsigned steps;   ///< rows, divided by the rows in a warp
    unsigned at_once; ///< steps whose columns are written at once
};

} // namespace softcuda::warp
