// one_stream.cu -- one stream fills an array, and the same stream reads the array.
// ARRAY data int[256]
// ARRAY out int[256]
// LAUNCH fill<<<1, 256, 0, 1>>>(data)
// LAUNCH use<<<1, 256, 0, 1>>>(data, out)
__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x;
}
__global__ void use(const int *data, int *out) {
    out[threadIdx.x] = data[255 - threadIdx.x] * 2;
}
