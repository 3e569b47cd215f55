// shift_in_place.cu -- moves an array by one element, in place and in one kernel.
// ARRAY data int[257] = iota
// LAUNCH shift<<<4, 64>>>(data)
__global__ void shift(int *data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i + 1]; // FINDS race write-after-read
}
