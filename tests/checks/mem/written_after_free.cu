// written_after_free.cu -- freed between two kernels that both need it.
// ARRAY data int[4096] = zeros
// LAUNCH fill<<<16, 256>>>(data)
// FREE data
// LAUNCH twice<<<16, 256>>>(data)
__global__ void fill(int *data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}
__global__ void twice(int *data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i * 2; // FINDS mem use-after-free
}
