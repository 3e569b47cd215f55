// compacted_array.cu -- a compaction keeps some elements, and the next kernel uses as many as there were before.
// ARRAY in int[64] = iota
// ARRAY out int[64]
// ARRAY count int[1] = zeros
// LAUNCH keep<<<1, 64>>>(in, out, count)
// LAUNCH twice<<<1, 64>>>(out)
__global__ void keep(const int *in, int *out, int *count) {
    int value = in[threadIdx.x];
    if (value % 3 == 0)
        out[atomicAdd(count, 1)] = value;
}
__global__ void twice(int *data) {
    data[threadIdx.x] *= 2; // FINDS init uninitialized
}
