// blocks_of_one_warp.cu -- __syncthreads() orders the threads of a block that is one warp, or a part of one.
// ARRAY data int[64] = iota
// LAUNCH shift<<<2, 32>>>(data)
// LAUNCH shift<<<3, 7>>>(data)
// LAUNCH count<<<2, 32>>>(data)
// LAUNCH rounds<<<2, 32>>>(data)
extern "C" __global__ void shift(int *data) {
    __shared__ int buffer[32];
    int t = threadIdx.x, *mine = data + blockIdx.x * blockDim.x;
    buffer[t] = mine[t];
    __syncthreads();
    mine[t] = buffer[(t + 1) % blockDim.x];
}

extern "C" __global__ void count(int *data) {
    __shared__ int buffer[32];
    int t = threadIdx.x, *mine = data + blockIdx.x * blockDim.x;
    buffer[t] = mine[t];
    int odd = __syncthreads_count(mine[t] & 1);
    mine[t] = odd + buffer[31 - t];
}

__device__ __noinline__ int exchange(volatile int *buffer, int t, int value) {
    buffer[t] = value;
    __syncthreads();
    int other = buffer[(t + 1) % 32];
    __syncthreads();
    return other;
}

extern "C" __global__ void rounds(int *data) {
    __shared__ volatile int buffer[32];
    int t = threadIdx.x, value = data[blockIdx.x * 32 + t];
    for (int round = 0; round < 4; ++round)
        value += exchange(buffer, t, value);
    data[blockIdx.x * 32 + t] = value;
}
