// vector_add.cu -- adds vectors whose length is not a multiple of the block.
// ARRAY a float[1000] = iota
// ARRAY b float[1000] = iota
// ARRAY c float[1000]
// LAUNCH add<<<4, 256>>>(a, b, c, 1000)
__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
