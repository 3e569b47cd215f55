// scan_in_place.cu -- an inclusive scan that adds in place: one barrier for each step is not enough.
// ARRAY data int[128] = ones
// LAUNCH scan<<<1, 128>>>(data)
__global__ void scan(int *data) {
    __shared__ int sums[128];
    int t = threadIdx.x;
    sums[t] = data[t];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        if (t >= distance)
            sums[t] += sums[t - distance]; // FINDS race write-after-read
        __syncthreads();
    }
    data[t] = sums[t];
}
