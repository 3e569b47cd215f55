// shuffle_in_a_branch.cu -- a shuffle of all lanes that half of them reach.
// ARRAY data int[32] = iota
// LAUNCH fold<<<1, 32>>>(data)
__global__ void fold(int *data) {
    int lane = threadIdx.x;
    int value = data[lane];
    if (lane < 16)
        value += __shfl_down_sync(0xffffffff, value, 16); // FINDS sync wrong-mask
    data[lane] = value;
}
