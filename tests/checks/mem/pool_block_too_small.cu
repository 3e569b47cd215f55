// pool_block_too_small.cu -- writes past the 1010 bytes that were allocated, inside the block that the pool uses for them.
// POOL text char[1010] = zeros
// LAUNCH fill<<<1, 1020>>>(text)
__global__ void fill(char *text) {
    text[threadIdx.x] = 'a'; // FINDS mem out-of-bounds
}
