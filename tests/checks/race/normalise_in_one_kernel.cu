// normalise_in_one_kernel.cu -- each block adds to a total, then divides by it: other blocks may still add.
// ARRAY data float[256] = ones
// ARRAY total float[1] = zeros
// LAUNCH normalise<<<4, 64>>>(data, total)
__global__ void normalise(float *data, float *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = data[i];
    atomicAdd(total, value); // FINDS race atomic-and-plain
    __syncthreads();
    data[i] = value / *total; // FINDS race atomic-and-plain
}
