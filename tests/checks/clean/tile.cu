// tile.cu -- a tile of 16 lanes exchanges values among its lanes.
// ARRAY data int[32] = iota
// LAUNCH swap<<<1, 32>>>(data)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void swap(int *data) {
    __shared__ int buffer[32];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    buffer[t] = data[t];
    tile.sync();
    data[t] = buffer[t ^ 8] + tile.shfl_xor(t, 4);
}
