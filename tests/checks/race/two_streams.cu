// two_streams.cu -- one stream fills an array, another reads the array without waiting for an event.
// ARRAY data int[256] = zeros
// ARRAY out int[256]
// LAUNCH fill<<<1, 256, 0, 1>>>(data)
// LAUNCH use<<<1, 256, 0, 2>>>(data, out)
__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x; // FINDS race read-after-write
}
__global__ void use(const int *data, int *out) {
    out[threadIdx.x] = data[255 - threadIdx.x] * 2; // FINDS race read-after-write
}
