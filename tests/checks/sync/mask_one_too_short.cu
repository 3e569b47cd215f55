// mask_one_too_short.cu -- a mask of n lanes for n + 1 callers.
// ARRAY data int[32] = iota
// LAUNCH vote<<<1, 32>>>(data, 10)
__global__ void vote(int *data, int last) {
    int lane = threadIdx.x;
    unsigned mask = (1u << last) - 1;
    if (lane <= last)
        data[lane] = __ballot_sync(mask, data[lane] & 1); // FINDS sync wrong-mask
}
