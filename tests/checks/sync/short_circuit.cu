// short_circuit.cu -- the right side of && has a barrier.
// ARRAY in int[64] = iota
// ARRAY out int[64] = zeros
// LAUNCH vote<<<1, 64>>>(in, out, 50)
__global__ void vote(const int *in, int *out, int n) {
    int t = threadIdx.x;
    if (t < n && __syncthreads_or(in[t] == 7)) // FINDS sync divergent-barrier
        out[t] = 1;
}
