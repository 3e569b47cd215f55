// count_in_a_branch.cu -- a vote of the block inside a branch.
// ARRAY in int[64] = iota
// ARRAY out int[64] = zeros
// LAUNCH vote<<<1, 64>>>(in, out)
__global__ void vote(const int *in, int *out) {
    int t = threadIdx.x;
    if (in[t] > 20)
        out[t] = __syncthreads_count(in[t] > 40); // FINDS sync divergent-barrier
}
