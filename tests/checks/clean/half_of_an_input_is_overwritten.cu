// half_of_an_input_is_overwritten.cu -- two streams use the two halves of an array, without an order.
// ARRAY data int[256] = iota
// ARRAY out int[128]
// LAUNCH use<<<1, 128, 0, 1>>>(data, out)
// LAUNCH fill<<<1, 128, 0, 2>>>(data + 128)
__global__ void use(const int *data, int *out) {
    out[threadIdx.x] = data[127 - threadIdx.x] * 2;
}
__global__ void fill(int *data) { data[threadIdx.x] = threadIdx.x; }
