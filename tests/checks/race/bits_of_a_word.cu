// bits_of_a_word.cu -- each thread sets its bit of a word with a plain |=.
// ARRAY in int[128] = iota
// ARRAY words unsigned[4] = zeros
// LAUNCH mark<<<1, 128>>>(in, words)
__global__ void mark(const int *in, unsigned *words) {
    int t = threadIdx.x;
    if (in[t] % 3 == 0)
        words[t / 32] |= 1u << (t % 32); // FINDS race read-after-write|write-after-write
}
