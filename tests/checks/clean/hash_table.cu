// hash_table.cu -- inserts with compare-and-swap into a table of empty marks, and searches in a second kernel.
// ARRAY keys int[64] = iota
// ARRAY table int[256] = -1
// ARRAY found int[1] = zeros
// LAUNCH insert<<<2, 32>>>(keys, table)
// LAUNCH look_up<<<2, 32>>>(keys, table, found)
__global__ void insert(const int *keys, int *table) {
    int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < 256; ++i) {
        int place = (key * 7 + i) % 256;
        int before = atomicCAS(&table[place], -1, key);
        if (before == -1 || before == key)
            return;
    }
}
__global__ void look_up(const int *keys, const int *table, int *found) {
    int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < 256; ++i)
        if (table[(key * 7 + i) % 256] == key) {
            atomicAdd(found, 1);
            return;
        }
}
