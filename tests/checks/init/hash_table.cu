// hash_table.cu -- a hash table without its empty marks: the first compare-and-swap reads uninitialised memory.
// ARRAY keys int[64] = iota
// ARRAY table int[256]
// LAUNCH insert<<<1, 64>>>(keys, table)
__global__ void insert(const int *keys, int *table) {
    int key = keys[threadIdx.x];
    for (int i = 0; i < 8; ++i) {
        int place = (key * 7 + i) % 256;
        int before = atomicCAS(&table[place], -1, key); // FINDS init uninitialized
        if (before == -1 || before == key)
            return;
    }
}
