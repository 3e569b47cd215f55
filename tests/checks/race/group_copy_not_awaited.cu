// group_copy_not_awaited.cu -- a group copies a tile asynchronously and reads it after block.sync(), which does not wait for copies.
// ARRAY in float[128] = iota
// ARRAY out float[128]
// LAUNCH reverse<<<1, 128>>>(in, out)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reverse(const float *in, float *out) {
    __shared__ __align__(16) float tile[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile); // FINDS race read-after-write
    block.sync();
    out[threadIdx.x] = tile[127 - threadIdx.x]; // FINDS race read-after-write
}
