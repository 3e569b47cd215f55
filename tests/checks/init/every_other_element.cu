// every_other_element.cu -- a stride of two where the elements are dense.
// ARRAY data int[128]
// LAUNCH fill<<<1, 64>>>(data)
// LAUNCH shift<<<1, 64>>>(data)
__global__ void fill(int *data) {
    data[2 * threadIdx.x] = threadIdx.x;
}
__global__ void shift(int *data) {
    int value = data[2 * threadIdx.x + 1]; // FINDS init uninitialized
    data[2 * threadIdx.x] += value;
}
