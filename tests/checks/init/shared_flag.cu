// shared_flag.cu -- a place in shared memory that is set by the thread that finds something, and else never.
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
