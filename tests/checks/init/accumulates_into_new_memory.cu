// accumulates_into_new_memory.cu -- y += a * x where y is newly allocated.
// ARRAY x float[128] = iota
// ARRAY y float[128]
// LAUNCH axpy<<<1, 128>>>(x, y, 128)
__global__ void axpy(const float *x, float *y, int n) {
    int i = threadIdx.x;
    if (i < n)
        y[i] += 2 * x[i]; // FINDS init uninitialized
}
