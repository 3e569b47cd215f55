// lock_of_each_block.cu -- each block has its own lock, but all change one counter.
// ARRAY locks int[4] = zeros
// ARRAY counter int[1] = zeros
// LAUNCH count<<<4, 1>>>(locks, counter)
__global__ void count(int *locks, int *counter) {
    while (atomicCAS(&locks[blockIdx.x], 0, 1) != 0) {
    }
    __threadfence();
    *counter += blockIdx.x; // FINDS race read-after-write|write-after-write
    __threadfence();
    atomicExch(&locks[blockIdx.x], 0);
}
