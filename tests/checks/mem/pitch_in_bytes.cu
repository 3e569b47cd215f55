// pitch_in_bytes.cu -- a pitch in bytes, added to a pointer to floats.
// ARRAY image float[1024] = zeros
// LAUNCH clear<<<1, (32, 32)>>>(image, 128)
__global__ void clear(float *image, int pitch) {
    float *row = image + threadIdx.y * pitch;
    row[threadIdx.x] = 1; // FINDS mem out-of-bounds
}
