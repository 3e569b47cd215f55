// overlapping_dynamic_arrays.cu -- two arrays in dynamic shared memory, the second at half of its correct offset.
// ARRAY in int[128] = iota
// ARRAY out int[64]
// LAUNCH add<<<1, 64, 512>>>(in, out, 64)
__global__ void add(const int *in, int *out, int n) {
    extern __shared__ int memory[];
    int *first = memory;
    int *second = memory + n / 2;
    int t = threadIdx.x;
    first[t] = in[t];      // FINDS race write-after-write
    second[t] = in[n + t]; // FINDS race write-after-write
    __syncthreads();
    out[t] = first[t] + second[t];
}
