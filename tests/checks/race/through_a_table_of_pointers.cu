// through_a_table_of_pointers.cu -- the output's address is in memory, and is the input's.
// ARRAY data int[257] = iota
// ARRAY table long long[1] = zeros
// LAUNCH set<<<1, 1>>>(table, data)
// LAUNCH step<<<2, 128>>>(data, table)
__global__ void set(int **table, int *data) { table[0] = data; }
__global__ void step(const int *data, int **table) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = data[i + 1]; // FINDS race read-after-write
    table[0][i] = value; // FINDS race read-after-write
}
