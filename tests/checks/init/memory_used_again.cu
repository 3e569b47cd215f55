// memory_used_again.cu -- memory that was freed and allocated again is undefined like any other.
// ARRAY first float[256] = ones
// FREE first
// ARRAY second float[256]
// ARRAY out float[256]
// LAUNCH copy<<<1, 256>>>(second, out)
__global__ void copy(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x] + 1; // FINDS init uninitialized
}
