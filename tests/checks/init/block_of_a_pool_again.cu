// block_of_a_pool_again.cu -- a pool returns a block that was used before, with its old contents.
// POOL first float[256] = ones
// FREE first
// POOL second float[256]
// ARRAY out float[256]
// LAUNCH copy<<<1, 256>>>(second, out)
__global__ void copy(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x] + 1; // FINDS init uninitialized
}
