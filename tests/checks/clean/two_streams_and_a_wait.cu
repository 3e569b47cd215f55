// two_streams_and_a_wait.cu -- one stream fills an array, another reads the array after the host has waited.
// ARRAY data int[256]
// ARRAY out int[256]
// LAUNCH fill<<<1, 256, 0, 1>>>(data)
// SYNC
// LAUNCH use<<<1, 256, 0, 2>>>(data, out)
__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x;
}
__global__ void use(const int *data, int *out) {
    out[threadIdx.x] = data[255 - threadIdx.x] * 2;
}
