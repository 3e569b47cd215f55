// dynamic_shared_too_small.cu -- a launch with half of the shared memory that the kernel uses.
// ARRAY data float[256] = iota
// LAUNCH reverse<<<1, 256, 512>>>(data)
__global__ void reverse(float *data) {
    extern __shared__ float tile[];
    int t = threadIdx.x;
    tile[t] = data[t]; // FINDS mem out-of-bounds #write
    __syncthreads();
    data[t] = tile[255 - t]; // FINDS mem out-of-bounds #read
}
