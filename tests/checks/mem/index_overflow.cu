// index_overflow.cu -- row times stride does not fit in an int.
// ARRAY data float[1024] = zeros
// LAUNCH mark<<<1, 2>>>(data, 1073741824)
__global__ void mark(float *data, int stride) {
    int row = threadIdx.x * 2;
    data[row * stride] = 1; // FINDS mem out-of-bounds
}
