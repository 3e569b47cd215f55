// bytes_of_one_word.cu -- a lane reads the byte next to its own, which a lane of its warp writes.
// ARRAY out char[64]
// LAUNCH shift<<<1, 64>>>(out)
__global__ void shift(char *out) {
    __shared__ char tile[64];
    tile[threadIdx.x] = threadIdx.x;          // FINDS race read-after-write
    out[threadIdx.x] = tile[threadIdx.x ^ 1]; // FINDS race read-after-write
}
