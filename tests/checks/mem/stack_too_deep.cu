// stack_too_deep.cu -- a stack in a thread's local memory, one entry too small.
// ARRAY steps int[64] = iota
// ARRAY out int[64]
// LAUNCH walk<<<1, 64>>>(steps, out)
__global__ void walk(const int *steps, int *out) {
    int stack[8];
    int depth = 0;
    int wanted = steps[threadIdx.x] % 10;
    for (int i = 0; i < wanted; ++i)
        stack[depth++] = i * i; // FINDS mem out-of-bounds
    int sum = 0;
    for (int i = 0; i < wanted && i < 8; ++i)
        sum += stack[i];
    out[threadIdx.x] = sum;
}
