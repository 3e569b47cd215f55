// loop_of_different_lengths.cu -- a barrier in a loop whose rounds depend on each thread's element.
// ARRAY lengths int[64] = iota
// ARRAY out int[64] = zeros
// LAUNCH work<<<1, 64>>>(lengths, out)
__global__ void work(const int *lengths, int *out) {
    __shared__ int step;
    int t = threadIdx.x;
    int turns = 1 + lengths[t] % 4;
    for (int i = 0; i < turns; ++i) {
        if (t == 0)
            step = i;
        __syncthreads(); // FINDS sync divergent-barrier
        out[t] += step;
    }
}
