// recursion.cu -- a recursive function with an array in each of its frames.
// ARRAY out int[32]
// LAUNCH walk<<<1, 32>>>(out)
__device__ __noinline__ int walk_down(int depth, int seed) {
    int digits[4];
    for (int i = 0; i < 4; ++i)
        digits[i] = seed >> i;
    if (depth == 0)
        return digits[seed & 3];
    return digits[depth & 3] + walk_down(depth - 1, seed + 1);
}
__global__ void walk(int *out) {
    out[threadIdx.x] = walk_down(threadIdx.x % 5, threadIdx.x);
}
