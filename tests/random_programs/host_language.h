// host_language.h -- the names of language.h in plain C++, with threads in software.
#pragma once
#include <cmath>
#include <cstring>

#define DEVICE [[maybe_unused]] static
#define NOINLINE [[maybe_unused]] static __attribute__((noinline))
#define INLINE [[maybe_unused]] static inline
#define METHOD
#define KERNEL static void
#define CONSTANT [[maybe_unused]] static const
#define TABLE [[maybe_unused]] static
#define SHARED(type, name, count)                                                                  \
    type(&name)[count] = *(type(*)[count])host::shared_memory(__COUNTER__, sizeof(type[count]))
#define DYNAMIC_SHARED(type, name) type *const name = (type *)host::dynamic_shared_memory()
#define SPIN() host::yield()
#define __restrict__

struct uint2 {
    u32 x, y;
} __attribute__((aligned(8)));
struct uint4 {
    u32 x, y, z, w;
} __attribute__((aligned(16)));
struct uchar4 {
    u8 x, y, z, w;
} __attribute__((aligned(4)));
struct ushort2 {
    u16 x, y;
} __attribute__((aligned(4)));

namespace host {
struct Index {
    u32 x, y, z;
};
struct Here {
    Index thread, block, block_size, grid_size;
    u32 lane;
};
/// The thread that runs now.
extern const Here *here;
/// The value of an undefined result; differs from run to run.
extern u64 undefined;

enum class Meet { Shuffle, Ballot, Match, Reduce, SyncWarp };

/// The values that the lanes of `mask` brought to their exchange; waits for all of them.
struct Exchange {
    u64 values[32];
    u32 lanes;
};
Exchange exchange(Meet what, u32 mask, u64 value);

/// Waits until `count` threads (0: all threads of the block) have arrived; the sum and the
/// conjunction of `value`.
struct Arrivals {
    u32 sum, all, any;
};
Arrivals barrier(u32 id, u32 count, u32 value);

void yield();
void *shared_memory(u32 id, u64 bytes);
void *dynamic_shared_memory();
[[noreturn]] void fail(const char *what);

/// A program of the batch, and its launch.
struct Program {
    const char *name;
    void (*run)(const u32 *in, const u32 *const *rows, u32 *scratch, u32 *flags, u32 *sums,
                u32 *out, i32 n0, i32 n1, i32 minus, u32 u0, i64 l0, u64 w0);
    Index grid, block;
    u32 dynamic_bytes;
};
} // namespace host

#define threadIdx (host::here->thread)
#define blockIdx (host::here->block)
#define blockDim (host::here->block_size)
#define gridDim (host::here->grid_size)

DEVICE u32 laneid() { return host::here->lane; }

// ---- exchanges within a warp ---------------------------------------------------------------

template <class T> static T shuffle(u32 mask, T value, u32 source, bool in_range) {
    u64 word = 0;
    memcpy(&word, &value, sizeof value);
    host::Exchange all = host::exchange(host::Meet::Shuffle, mask, word);
    if (!in_range)
        return value;
    word = all.lanes >> source & 1 ? all.values[source] : host::undefined;
    memcpy(&value, &word, sizeof value);
    return value;
}
template <class T> static T __shfl_sync(u32 mask, T value, int source, int width = 32) {
    u32 first = laneid() & ~(u32)(width - 1);
    return shuffle(mask, value, first | ((u32)source & (u32)(width - 1)), true);
}
template <class T> static T __shfl_up_sync(u32 mask, T value, u32 by, int width = 32) {
    i32 from = (i32)laneid() - (i32)by;
    return shuffle(mask, value, (u32)from & 31, from >= (i32)(laneid() & ~(u32)(width - 1)));
}
template <class T> static T __shfl_down_sync(u32 mask, T value, u32 by, int width = 32) {
    u32 from = laneid() + by;
    return shuffle(mask, value, from & 31, from <= (laneid() | (u32)(width - 1)));
}
template <class T> static T __shfl_xor_sync(u32 mask, T value, int by, int width = 32) {
    u32 from = laneid() ^ (u32)by;
    return shuffle(mask, value, from & 31, from <= (laneid() | (u32)(width - 1)));
}
DEVICE u32 __ballot_sync(u32 mask, int yes) {
    host::Exchange all = host::exchange(host::Meet::Ballot, mask, yes != 0);
    u32 result = 0;
    for (u32 i = 0; i < 32; i++)
        if (all.lanes >> i & 1)
            result |= (u32)all.values[i] << i;
    return result;
}
DEVICE int __any_sync(u32 mask, int yes) { return __ballot_sync(mask, yes) != 0; }
DEVICE int __all_sync(u32 mask, int yes) { return __ballot_sync(mask, !yes) == 0; }
template <class T> static u32 __match_any_sync(u32 mask, T value) {
    u64 word = 0;
    memcpy(&word, &value, sizeof value);
    host::Exchange all = host::exchange(host::Meet::Match, mask, word);
    u32 result = 0;
    for (u32 i = 0; i < 32; i++)
        if (all.lanes >> i & 1 && all.values[i] == word)
            result |= 1u << i;
    return result;
}
template <class T> static u32 __match_all_sync(u32 mask, T value, int *same) {
    u32 equal = __match_any_sync(mask, value);
    *same = equal == mask;
    return *same ? mask : 0;
}
template <class F> static u32 reduce(u32 mask, u32 value, F combine) {
    host::Exchange all = host::exchange(host::Meet::Reduce, mask, value);
    bool first = true;
    u32 result = 0;
    for (u32 i = 0; i < 32; i++)
        if (all.lanes >> i & 1) {
            result = first ? (u32)all.values[i] : combine(result, (u32)all.values[i]);
            first = false;
        }
    return result;
}
#define REDUCE(name, type, expression)                                                             \
    DEVICE type name(u32 mask, type value) {                                                       \
        return (type)reduce(mask, (u32)value, [](u32 ua, u32 ub) -> u32 {                          \
            type a = (type)ua, b = (type)ub;                                                       \
            return (u32)(expression);                                                              \
        });                                                                                        \
    }
REDUCE(__reduce_add_sync, u32, a + b)
REDUCE(__reduce_and_sync, u32, a &b)
REDUCE(__reduce_or_sync, u32, a | b)
REDUCE(__reduce_xor_sync, u32, a ^ b)
REDUCE(__reduce_min_sync, u32, a < b ? a : b)
REDUCE(__reduce_max_sync, u32, a > b ? a : b)
REDUCE(__reduce_min_sync, i32, a < b ? a : b)
REDUCE(__reduce_max_sync, i32, a > b ? a : b)
DEVICE void __syncwarp(u32 mask = 0xffffffffu) { host::exchange(host::Meet::SyncWarp, mask, 0); }

// ---- barriers, memory order, atomics -------------------------------------------------------

DEVICE void __syncthreads() { host::barrier(0, 0, 0); }
DEVICE int __syncthreads_count(int yes) { return (int)host::barrier(0, 0, yes != 0).sum; }
DEVICE int __syncthreads_and(int yes) { return (int)host::barrier(0, 0, yes != 0).all; }
DEVICE int __syncthreads_or(int yes) { return (int)host::barrier(0, 0, yes != 0).any; }
DEVICE void named_barrier(u32 id, u32 count) { host::barrier(id, count, 0); }
DEVICE void block_barrier() { host::barrier(0, 0, 0); }
DEVICE void __threadfence() {}
DEVICE void __threadfence_block() {}
DEVICE void __nanosleep(u32) { host::yield(); }
DEVICE u32 __ldcv(const u32 *p) { return *(const volatile u32 *)p; }
template <class T> static T __ldg(const T *p) { return *p; }
DEVICE u32 load_acquire(u32 *p) { return *(volatile u32 *)p; }
DEVICE void store_release(u32 *p, u32 v) { *(volatile u32 *)p = v; }

#define ATOMIC(name, type, expression)                                                             \
    DEVICE type name(type *p, type v) {                                                            \
        type old = *p;                                                                             \
        *p = (expression);                                                                         \
        return old;                                                                                \
    }
#define ATOMICS(type)                                                                              \
    ATOMIC(atomicAdd, type, (type)((u64)old + (u64)v))                                             \
    ATOMIC(atomicMin, type, old < v ? old : v)                                                     \
    ATOMIC(atomicMax, type, old > v ? old : v)                                                     \
    ATOMIC(atomicAnd, type, old &v)                                                                \
    ATOMIC(atomicOr, type, old | v)                                                                \
    ATOMIC(atomicXor, type, old ^ v)                                                               \
    ATOMIC(atomicExch, type, v)
ATOMICS(u32)
ATOMICS(i32)
ATOMICS(u64)
ATOMIC(atomicSub, u32, old - v)
ATOMIC(atomicInc, u32, old >= v ? 0 : old + 1)
ATOMIC(atomicDec, u32, old == 0 || old > v ? v : old - 1)
template <class T> static T atomicCAS(T *p, T seen, T wanted) {
    T old = *p;
    if (old == seen)
        *p = wanted;
    return old;
}

#include "host_arithmetic.h"
