// total_of_blocks.cu -- one thread of each block adds to a total, without an atomic.
// ARRAY in float[8] = ones
// ARRAY total float[1] = zeros
// LAUNCH add<<<8, 32>>>(in, total)
__global__ void add(const float *in, float *total) {
    if (threadIdx.x == 0)
        *total += in[blockIdx.x]; // FINDS race read-after-write|write-after-write
}
