// pointer_jumping.cu -- ranks a list's nodes by pointer jumping, in place.
// ARRAY next int[64] = zeros
// ARRAY rank int[64] = ones
// LAUNCH link<<<1, 64>>>(next)
// LAUNCH jump<<<1, 64>>>(next, rank)
__global__ void link(int *next) {
    int t = threadIdx.x;
    next[t] = t < 63 ? t + 1 : 63;
}
__global__ void jump(int *next, int *rank) {
    int t = threadIdx.x;
    for (int step = 0; step < 6; ++step) {
        rank[t] += rank[next[t]]; // FINDS race read-after-write #rank
        next[t] = next[next[t]];  // FINDS race read-after-write #next
        __syncthreads();
    }
}
