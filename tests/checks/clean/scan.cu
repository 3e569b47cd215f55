// scan.cu -- an inclusive scan with separate phases of loads and stores.
// ARRAY data int[128] = ones
// LAUNCH scan<<<1, 128>>>(data)
__global__ void scan(int *data) {
    __shared__ int sums[128];
    int t = threadIdx.x;
    sums[t] = data[t];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    data[t] = sums[t];
}
