// several_dynamic_arrays.cu -- three arrays of different types in dynamic shared memory, each aligned.
// ARRAY in int[64] = iota
// ARRAY out double[64]
// LAUNCH work<<<1, 64, 832>>>(in, out, 64)
__global__ void work(const int *in, double *out, int n) {
    extern __shared__ double memory[];
    double *sums = memory;
    int *values = reinterpret_cast<int *>(sums + n);
    unsigned char *marks = reinterpret_cast<unsigned char *>(values + n);
    int t = threadIdx.x;
    sums[t] = 0;
    values[t] = in[t];
    marks[t] = in[t] % 3 == 0;
    __syncthreads();
    for (int i = 0; i <= t; ++i)
        if (marks[i])
            sums[t] += values[i];
    out[t] = sums[t];
}
