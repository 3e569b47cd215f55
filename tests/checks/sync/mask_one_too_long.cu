// mask_one_too_long.cu -- a mask with a lane that does not arrive.
// ARRAY data int[32] = iota
// LAUNCH vote<<<1, 32>>>(data, 10)
__global__ void vote(int *data, int n) {
    int lane = threadIdx.x;
    unsigned mask = (2u << n) - 1;
    if (lane < n)
        data[lane] = __any_sync(mask, data[lane] == 5); // FINDS sync wrong-mask
}
