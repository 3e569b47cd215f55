// bytes_of_a_word.cu -- each thread writes its own byte of words that are read after the barrier.
// ARRAY out int[16]
// LAUNCH pack<<<1, 64>>>(out)
__global__ void pack(int *out) {
    __shared__ int words[16];
    int t = threadIdx.x;
    reinterpret_cast<unsigned char *>(words)[t] = t;
    __syncthreads();
    if (t < 16)
        out[t] = words[t];
}
