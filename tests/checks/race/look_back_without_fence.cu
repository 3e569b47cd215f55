// look_back_without_fence.cu -- a scan over blocks whose blocks publish their prefix without a fence.
// ARRAY data int[512] = ones
// ARRAY prefix int[4] = zeros
// ARRAY state int[4] = zeros
// ARRAY order int[1] = zeros
// LAUNCH sum<<<4, 128>>>(data, prefix, state, order)
__global__ void sum(const int *data, int *prefix, int *state, int *order) {
    __shared__ int block;
    int t = threadIdx.x;
    if (t == 0)
        block = atomicAdd(order, 1);
    __syncthreads();
    int count = __syncthreads_count(data[block * 128 + t] > 0);
    if (t == 0) {
        int before = 0;
        if (block > 0) {
            while (atomicAdd(&state[block - 1], 0) == 0) {
            }
            before = prefix[block - 1]; // FINDS race read-after-write
        }
        prefix[block] = before + count; // FINDS race read-after-write
        atomicExch(&state[block], 1);
    }
}
