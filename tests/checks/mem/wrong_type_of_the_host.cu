// wrong_type_of_the_host.cu -- the host allocates floats, the kernel writes doubles.
// ARRAY out float[128]
// LAUNCH fill<<<1, 128>>>(out)
__global__ void fill(double *out) {
    out[threadIdx.x] = threadIdx.x * 0.5; // FINDS mem out-of-bounds
}
