// mbarrier_without_wait.cu -- all threads arrive at an mbarrier, but none waits for its phase.
// ARRAY data int[64] = iota
// LAUNCH reverse<<<1, 64>>>(data)
#include <cuda_awbarrier_primitives.h>
extern "C" __global__ void reverse(int *data) {
    __shared__ __mbarrier_t barrier;
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t == 0)
        __mbarrier_init(&barrier, 64);
    __syncthreads();
    tile[t] = data[t]; // FINDS race read-after-write
    __mbarrier_arrive(&barrier);
    data[t] = tile[63 - t]; // FINDS race read-after-write
}
