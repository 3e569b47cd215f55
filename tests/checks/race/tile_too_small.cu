// tile_too_small.cu -- a tile of 16 lanes waits, but its lanes read values of the other tile.
// ARRAY data int[32] = iota
// LAUNCH swap<<<1, 32>>>(data)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void swap(int *data) {
    __shared__ int buffer[32];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    buffer[t] = data[t]; // FINDS race read-after-write
    tile.sync();
    data[t] = buffer[t ^ 16]; // FINDS race read-after-write
}
