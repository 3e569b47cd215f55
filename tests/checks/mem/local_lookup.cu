// local_lookup.cu -- a table in a thread's local memory, read with an unchecked index.
// ARRAY digits int[32] = iota
// ARRAY out int[32]
// LAUNCH decode<<<1, 32>>>(digits, out)
__global__ void decode(const int *digits, int *out) {
    int table[16];
    for (int i = 0; i < 16; ++i)
        table[i] = digits[i] * 3;
    out[threadIdx.x] = table[digits[threadIdx.x]]; // FINDS mem out-of-bounds
}
