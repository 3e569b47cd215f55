// padded_rows.cu -- rows are padded to 32 elements; the padding is read, too.
// ARRAY image float[256]
// ARRAY out float[8]
// LAUNCH paint<<<1, (30, 8)>>>(image, 32)
// LAUNCH sum_rows<<<1, 8>>>(image, out, 32)
__global__ void paint(float *image, int pitch) {
    image[threadIdx.y * pitch + threadIdx.x] = 1;
}
__global__ void sum_rows(const float *image, float *out, int pitch) {
    float sum = 0;
    for (int x = 0; x < pitch; ++x)
        sum += image[threadIdx.x * pitch + x]; // FINDS init uninitialized
    out[threadIdx.x] = sum;
}
