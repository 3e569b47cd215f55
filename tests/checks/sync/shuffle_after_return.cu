// shuffle_after_return.cu -- lanes past the end return, and the others shuffle with all 32.
// ARRAY data int[20] = iota
// LAUNCH sum<<<1, 32>>>(data, 20)
__global__ void sum(int *data, int n) {
    int lane = threadIdx.x;
    if (lane >= n)
        return;
    int value = data[lane];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step); // FINDS sync wrong-mask
    data[lane] = value;
}
