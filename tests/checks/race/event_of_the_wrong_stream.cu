// event_of_the_wrong_stream.cu -- a stream waits for an event, but the event is from another stream.
// ARRAY data int[256] = zeros
// ARRAY other int[256] = zeros
// ARRAY out int[256]
// LAUNCH fill<<<1, 256, 0, 1>>>(data)
// LAUNCH fill<<<1, 256, 0, 3>>>(other)
// WAIT 2 <- 3
// LAUNCH use<<<1, 256, 0, 2>>>(data, out)
__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x; // FINDS race read-after-write
}
__global__ void use(const int *data, int *out) {
    out[threadIdx.x] = data[255 - threadIdx.x] * 2; // FINDS race read-after-write
}
