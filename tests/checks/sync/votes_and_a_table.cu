// votes_and_a_table.cu -- each lane counts in its warp's table, and lane 0 reads the table.
// ARRAY data int[32] = iota
// ARRAY out int[1]
// LAUNCH most<<<1, 32>>>(data, out)
__global__ void most(const int *data, int *out) {
    __shared__ int table[4];
    int lane = threadIdx.x;
    if (lane < 4)
        table[lane] = 0;
    __syncwarp();
    atomicAdd(&table[data[lane] % 4], 1); // FINDS sync missing-syncwarp
    if (lane == 0)
        *out = table[0] + table[1] + table[2] + table[3]; // FINDS sync missing-syncwarp
}
