// dangling_scan_total.cu -- a block's total is stored by a thread that only some blocks have.
// ARRAY in int[160] = ones
// ARRAY totals int[3]
// ARRAY out int[3]
// LAUNCH sums<<<3, 64>>>(in, totals, 160)
// LAUNCH copy<<<1, 3>>>(totals, out)
__global__ void sums(const int *in, int *totals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(i < n && in[i < n ? i : 0] > 0);
    if (i < n && threadIdx.x == blockDim.x - 1)
        totals[blockIdx.x] = count;
}
__global__ void copy(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x]; // FINDS init uninitialized
}
