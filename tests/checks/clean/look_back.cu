// look_back.cu -- a scan over blocks: each block waits for the prefix of the one before, published with a fence.
// ARRAY data int[512] = ones
// ARRAY prefix int[4] = zeros
// ARRAY state int[4] = zeros
// ARRAY order int[1] = zeros
// LAUNCH scan<<<4, 128>>>(data, prefix, state, order)
__global__ void scan(int *data, int *prefix, int *state, int *order) {
    __shared__ int sums[128];
    __shared__ int before, block;
    int t = threadIdx.x;
    if (t == 0)
        block = atomicAdd(order, 1);
    __syncthreads();
    int *mine = data + block * 128;
    sums[t] = mine[t];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        before = 0;
        if (block > 0) {
            while (atomicAdd(&state[block - 1], 0) == 0) {
            }
            __threadfence();
            before = prefix[block - 1];
        }
        prefix[block] = before + sums[127];
        __threadfence();
        atomicExch(&state[block], 1);
    }
    __syncthreads();
    mine[t] = before + sums[t];
}
