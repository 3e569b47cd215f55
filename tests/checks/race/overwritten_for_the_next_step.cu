// overwritten_for_the_next_step.cu -- a stream still reads an array when another overwrites it for the next step.
// ARRAY data int[256] = iota
// ARRAY out int[256]
// LAUNCH use<<<1, 256, 0, 1>>>(data, out)
// LAUNCH fill<<<1, 256, 0, 2>>>(data)
__global__ void use(const int *data, int *out) {
    out[threadIdx.x] = data[255 - threadIdx.x] * 2; // FINDS race write-after-read
}
__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x; // FINDS race write-after-read
}
