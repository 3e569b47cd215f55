// next_shared_variable.cu -- the index of one array in shared memory runs into the next one.
// ARRAY data int[96] = iota
// LAUNCH mix<<<1, 96>>>(data)
__global__ void mix(int *data) {
    __shared__ int first[64];
    __shared__ int second[64];
    int t = threadIdx.x;
    if (t < 64)
        second[t] = -1;
    __syncthreads();
    first[t] = data[t]; // FINDS mem out-of-bounds
    __syncthreads();
    data[t] = first[t % 64] + second[t % 64];
}
