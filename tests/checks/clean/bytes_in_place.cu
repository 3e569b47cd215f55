// bytes_in_place.cu -- each lane changes its own byte, or half a word; several lanes share a word.
// ARRAY bytes char[512] = zeros
// ARRAY halves short[512] = zeros
// LAUNCH increase<<<4, 128>>>(bytes, halves)
// LAUNCH increase_tile<<<2, 256>>>(bytes)
__global__ void increase(char *bytes, short *halves) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bytes[i] = bytes[i] + 1;
    halves[i] = halves[i] + bytes[i];
    if (i % 2)
        halves[i] = halves[i] * 3;
}

__global__ void increase_tile(char *bytes) {
    __shared__ char tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = bytes[i];
    tile[threadIdx.x] += 1;
    bytes[i] = tile[threadIdx.x];
}
