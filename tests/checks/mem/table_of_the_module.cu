// table_of_the_module.cu -- reads past a __device__ table's end.
// ARRAY out int[32]
// LAUNCH look_up<<<1, 32>>>(out)
__device__ int squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};
__device__ int cubes[16] = {0, 1, 8, 27, 64, 125, 216, 343, 512, 729, 1000, 1331, 1728, 2197, 2744, 3375};
__global__ void look_up(int *out) {
    int t = threadIdx.x;
    out[t] = squares[t] + cubes[t % 16]; // FINDS mem out-of-bounds
}
