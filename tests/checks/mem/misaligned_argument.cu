// misaligned_argument.cu -- the caller passes an address in the middle of a number.
// ARRAY data int[64] = iota
// LAUNCH negate<<<1, 32>>>(data + 2 bytes)
__global__ void negate(int *data) {
    int value = data[threadIdx.x];   // FINDS mem misaligned
    data[threadIdx.x] = -value - 1;  // MAY mem misaligned
}
