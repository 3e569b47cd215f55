// misaligned_shared.cu -- a double in shared memory after an odd number of ints.
// ARRAY out double[32]
// LAUNCH work<<<1, 32, 1024>>>(out, 33)
__global__ void work(double *out, int n) {
    extern __shared__ int memory[];
    double *values = reinterpret_cast<double *>(memory + n);
    values[threadIdx.x] = threadIdx.x; // FINDS mem misaligned
    out[threadIdx.x] = 0;
}
