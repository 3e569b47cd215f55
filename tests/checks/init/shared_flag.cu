// shared_flag.cu -- a variable in shared memory that only a thread that finds something sets.
// ARRAY in int[64] = iota
// ARRAY out int[1]
// LAUNCH find<<<1, 64>>>(in, out, 1000)
__global__ void find(const int *in, int *out, int wanted) {
    __shared__ int place;
    if (in[threadIdx.x] == wanted)
        place = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = place; // FINDS init uninitialized
}
