// local_arrays.cu -- a stack and a table in a thread's own memory, used within their bounds.
// ARRAY steps int[64] = iota
// ARRAY out int[64]
// LAUNCH walk<<<1, 64>>>(steps, out)
__global__ void walk(const int *steps, int *out) {
    int stack[8];
    int table[16];
    int depth = 0;
    for (int i = 0; i < 16; ++i)
        table[i] = steps[i] * 3;
    int wanted = steps[threadIdx.x] % 8;
    for (int i = 0; i < wanted; ++i)
        stack[depth++] = table[(i * 5 + threadIdx.x) % 16];
    int sum = 0;
    while (depth > 0)
        sum += stack[--depth];
    out[threadIdx.x] = sum;
}
