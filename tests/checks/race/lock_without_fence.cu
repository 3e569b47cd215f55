// lock_without_fence.cu -- a spin lock around a plain counter; lock and unlock order nothing.
// ARRAY lock int[1] = zeros
// ARRAY counter int[1] = zeros
// LAUNCH count<<<4, 1>>>(lock, counter)
__global__ void count(int *lock, int *counter) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *counter += blockIdx.x; // FINDS race read-after-write|write-after-write
    atomicExch(lock, 0);
}
