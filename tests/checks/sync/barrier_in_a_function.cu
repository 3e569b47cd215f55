// barrier_in_a_function.cu -- a function with a barrier, called by some threads.
// ARRAY data int[128] = iota
// LAUNCH work<<<1, 128>>>(data)
__device__ __noinline__ int total(const int *data) {
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads(); // FINDS sync divergent-barrier
    atomicAdd(&sum, data[threadIdx.x]);
    __syncthreads(); // MAY sync divergent-barrier
    return sum;
}
__global__ void work(int *data) {
    int t = threadIdx.x;
    if (data[t] % 2 == 0)
        data[t] = total(data);
}
