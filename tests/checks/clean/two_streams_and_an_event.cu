// two_streams_and_an_event.cu -- one stream fills an array, and another waits for an event before it reads the array.
// ARRAY data int[256]
// ARRAY out int[256]
// LAUNCH fill<<<1, 256, 0, 1>>>(data)
// WAIT 2 <- 1
// LAUNCH use<<<1, 256, 0, 2>>>(data, out)
__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x;
}
__global__ void use(const int *data, int *out) {
    out[threadIdx.x] = data[255 - threadIdx.x] * 2;
}
