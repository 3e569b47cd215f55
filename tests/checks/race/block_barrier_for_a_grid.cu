// block_barrier_for_a_grid.cu -- a cooperative kernel waits for its block, but needs the whole grid.
// ARRAY data float[256] = iota
// ARRAY next float[256] = zeros
// ARRAY out float[256] = zeros
// LAUNCH cooperative smooth<<<4, 64>>>(data, next, out)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void smooth(const float *data, float *next, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = (i + 255) % 256, right = (i + 1) % 256;
    next[i] = (data[left] + data[right]) / 2; // FINDS race read-after-write
    cg::this_thread_block().sync();
    out[i] = (next[left] + next[right]) / 2; // FINDS race read-after-write
}
