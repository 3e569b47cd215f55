// max_by_hand.cu -- a maximum in shared memory with a comparison and a store, not an atomic.
// ARRAY in int[128] = iota
// ARRAY out int[1]
// LAUNCH maximum<<<1, 128>>>(in, out)
__global__ void maximum(const int *in, int *out) {
    __shared__ int best;
    int t = threadIdx.x;
    if (t == 0)
        best = in[0];
    __syncthreads();
    if (in[t] > best)  // FINDS race read-after-write
        best = in[t];  // FINDS race read-after-write; MAY race write-after-write
    __syncthreads();
    if (t == 0)
        *out = best;
}
