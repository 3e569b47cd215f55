// one_too_far.cu -- a loop that ends one element past the array.
// ARRAY data int[100] = zeros
// LAUNCH fill<<<1, 32>>>(data, 100)
__global__ void fill(int *data, int n) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
        data[i] = i; // FINDS mem out-of-bounds
}
