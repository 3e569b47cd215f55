// jacobi_in_place.cu -- a Jacobi step that writes elements that its neighbours still read.
// ARRAY grid float[1024] = iota
// LAUNCH relax<<<(4, 4), (8, 8)>>>(grid, 32)
__global__ void relax(float *grid, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        float *at = grid + y * n + x;
        *at = (at[-1] + at[1] + at[-n] + at[n]) / 4; // FINDS race write-after-read
    }
}
