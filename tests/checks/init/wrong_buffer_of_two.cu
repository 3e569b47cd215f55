// wrong_buffer_of_two.cu -- a simulation's first step reads the buffer for its result.
// ARRAY now float[64] = iota
// ARRAY next float[64]
// LAUNCH step<<<1, 64>>>(next, now)
__global__ void step(const float *from, float *to) {
    int i = threadIdx.x;
    to[i] = from[i] * 0.5f; // FINDS init uninitialized
}
