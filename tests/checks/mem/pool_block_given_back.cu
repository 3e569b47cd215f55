// pool_block_given_back.cu -- a kernel uses a pool's block after the program has returned it.
// POOL data float[250] = iota
// ARRAY out float[250]
// FREE data
// LAUNCH copy<<<1, 250>>>(data, out)
__global__ void copy(const float *data, float *out) {
    out[threadIdx.x] = data[threadIdx.x]; // FINDS mem use-after-free
}
