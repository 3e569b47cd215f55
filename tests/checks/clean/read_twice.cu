// read_twice.cu -- a lane reads a word twice, and then writes it; some words in another order.
// ARRAY out int[64] = zeros
// LAUNCH count<<<2, 1>>>(out)
__global__ void count(int *out) {
    __shared__ int found[32];
    for (int i = 0; i < 32; ++i)
        found[i] = i;
    for (int i = 0; i < 100; ++i) {
        volatile int *one = &found[i * 7 % 32];
        if (*one + *one > 3 && found[i % 32] < 200)
            ++found[(i * 5 + 1) % 32];
        out[blockIdx.x * 32 + i % 32] += found[i * 3 % 32];
    }
}
