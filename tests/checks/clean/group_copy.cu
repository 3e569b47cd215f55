// group_copy.cu -- a group copies a tile asynchronously, waits, and all of its threads read.
// ARRAY in float[128] = iota
// ARRAY out float[128]
// LAUNCH reverse<<<1, 128>>>(in, out)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reverse(const float *in, float *out) {
    __shared__ __align__(16) float tile[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile);
    cg::wait(block);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
