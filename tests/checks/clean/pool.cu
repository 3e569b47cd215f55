// pool.cu -- a pool's block is used, returned, allocated again and written before it is read.
// POOL first float[250] = ones
// ARRAY out float[250]
// LAUNCH copy<<<1, 250>>>(first, out)
// FREE first
// POOL second float[250]
// LAUNCH copy<<<1, 250>>>(out, second)
// LAUNCH copy<<<1, 250>>>(second, out)
__global__ void copy(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x];
}
