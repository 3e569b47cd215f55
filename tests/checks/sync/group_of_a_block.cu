// group_of_a_block.cu -- block.sync() of cooperative groups in a branch.
// ARRAY data int[64] = iota
// LAUNCH work<<<1, 64>>>(data)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void work(int *data) {
    auto block = cg::this_thread_block();
    int t = threadIdx.x;
    if (data[t] < 40) {
        data[t] += 1;
        block.sync(); // FINDS sync divergent-barrier
    }
}
