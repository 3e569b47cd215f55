// shared_flag.cu -- a flag in shared memory that is set by a thread that finds something, and else never.
// ARRAY in int[64] = iota
// ARRAY out int[1]
// LAUNCH find<<<1, 64>>>(in, out, 1000)
__global__ void find(const int *in, int *out, int wanted) {
    __shared__ int found; // the compiler may take a flag that is only ever set to be set
    if (in[threadIdx.x] == wanted)
        found = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = found; // FINDS init uninitialized
}
