// two_names_of_one_array.cu -- a shift by one element, with the array as input and as output.
// ARRAY data int[1025] = iota
// LAUNCH shift<<<4, 256>>>(data, data + 1)
__global__ void shift(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i]; // FINDS race read-after-write
    out[i] = value + 1; // FINDS race read-after-write
}
