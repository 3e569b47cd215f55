// atomics_of_one_block.cu -- counts in all blocks with atomics of block scope.
// ARRAY count int[1] = zeros
// LAUNCH count_threads<<<4, 32>>>(count)
__global__ void count_threads(int *count) {
    atomicAdd_block(count, 1); // FINDS race atomic-and-plain|read-after-write|write-after-write
}
