// padding.cu -- structs are copied by elements of 8 bytes; their padding was not written.
// ARRAY out int[64] = zeros
// LAUNCH copy<<<1, 64>>>(out)
struct Pair {
    long long index;
    int value; // 4 bytes of padding behind it
};

extern "C" __global__ void copy(int *out) {
    __shared__ Pair pairs[64];
    int t = threadIdx.x;
    pairs[t].index = t;
    pairs[t].value = 2 * t;
    __syncthreads();
    const volatile long long *words = reinterpret_cast<const volatile long long *>(&pairs[63 - t]);
    long long copied[2] = {words[0], words[1]};
    Pair pair;
    memcpy(&pair, copied, sizeof pair);
    out[t] = pair.value + (int)pair.index;
}
