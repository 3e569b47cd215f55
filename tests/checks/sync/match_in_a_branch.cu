// match_in_a_branch.cu -- searches for equal values among all lanes, inside a branch.
// ARRAY data int[32] = iota
// LAUNCH group<<<1, 32>>>(data)
__global__ void group(int *data) {
    int lane = threadIdx.x;
    if (data[lane] % 4 != 0)
        data[lane] = __match_any_sync(0xffffffff, data[lane] % 8); // FINDS sync wrong-mask
}
