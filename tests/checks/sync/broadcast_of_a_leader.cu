// broadcast_of_a_leader.cu -- lane 0 stores a value, and all lanes read it at once.
// ARRAY next int[1] = zeros
// ARRAY out int[64]
// LAUNCH draw<<<1, 64>>>(next, out)
__global__ void draw(int *next, int *out) {
    __shared__ int base[2];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
        base[warp] = atomicAdd(next, 32); // FINDS sync missing-syncwarp
    out[threadIdx.x] = base[warp] + lane; // FINDS sync missing-syncwarp
}
