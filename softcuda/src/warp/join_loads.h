// join_loads.h -- loads, and stores, of adjacent elements become one access.
#pragma once

namespace softcuda::warp {

struct KernelPlan;

/// Joins loads whose addresses differ by constants only, if each lane's elements
/// are adjacent and the lanes' addresses have no pattern, or are far apart. Each lane then loads
/// all its elements at once, and permutations put them in order. A gather loads one element for
/// each lane, in the time of a load for each lane. Stores to global memory are joined in the same
/// way.
///
///     a = load [p]             a, b, c, d = load 16 bytes [p]
///     b = load [p + 4]
///     c = load [p + 8]                              p = rows of a sparse matrix, structures
///     d = load [p + 12]
///
/// Bytes and halves are joined if they are whole words of 4 bytes: a gather of bytes is one of
/// words in any case. Loads in several basic blocks are joined if the same lanes run these blocks,
/// one after another, and nothing in between writes or waits.
///
/// The first of them in the program loads all, the last stores all. No instruction in between
/// writes the memory or waits, or, between stores, reads it.
///
/// In the same way, elements of adjacent structures in global memory become one row, also in
/// stores. A structure has two to four elements of one size, up to 16 bytes:
///
///     p[2 * i] = a             row of all lanes at p = a0 b0 a1 b1 a2 b2 ...
///     p[2 * i + 1] = b
///
/// The last of them in the program stores all. No instruction in between accesses the memory or
/// waits, except that structures may be changed in place: loads and stores of other elements of the
/// same structures access other memory.
/// Needs the plans of all accesses.
void join_loads(KernelPlan &plan);

} // namespace softcuda::warp
