// packed_record.cu -- reads a 32-bit field of a packed record of five bytes.
// ARRAY records char[160] = ones
// ARRAY out int[32]
// LAUNCH read<<<1, 32>>>(records, out)
__global__ void read(const char *records, int *out) {
    const char *record = records + threadIdx.x * 5;
    out[threadIdx.x] = *(const int *)(record + 1); // FINDS mem misaligned
}
