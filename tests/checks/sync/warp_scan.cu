// warp_scan.cu -- a warp's scan in volatile shared memory, one lane's step after the other.
// ARRAY data int[32] = ones
// LAUNCH scan<<<1, 32>>>(data)
__global__ void scan(int *data) {
    __shared__ volatile int sums[32];
    int lane = threadIdx.x;
    sums[lane] = data[lane];
    __syncwarp();
    for (int distance = 1; distance < 32; distance *= 2) {
        if (lane >= distance)
            sums[lane] = sums[lane] + sums[lane - distance]; // FINDS sync missing-syncwarp
        __syncwarp();
    }
    data[lane] = sums[lane];
}
