// barrier_in_a_switch.cu -- a barrier in one case of a switch.
// ARRAY kinds int[96] = iota
// ARRAY out int[96] = zeros
// LAUNCH handle<<<1, 96>>>(kinds, out)
__global__ void handle(const int *kinds, int *out) {
    __shared__ int tile[96];
    int t = threadIdx.x;
    tile[t] = kinds[t];
    switch (kinds[t] % 3) {
    case 0:
        out[t] = tile[t];
        break;
    case 1:
        __syncthreads(); // FINDS sync divergent-barrier
        out[t] = tile[95 - t];
        break;
    default:
        out[t] = -1;
    }
}
