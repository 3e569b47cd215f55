// vector_add_without_bound.cu -- adds vectors whose length is not a multiple of the block, without a bounds check.
// ARRAY a float[1000] = iota
// ARRAY b float[1000] = iota
// ARRAY c float[1000]
// LAUNCH add<<<4, 256>>>(a, b, c)
__global__ void add(const float *a, const float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i]; // FINDS mem out-of-bounds
}
