// lock.cu -- a spin lock with its fences around a plain counter.
// ARRAY lock int[1] = zeros
// ARRAY counter int[1] = zeros
// LAUNCH count<<<4, 1>>>(lock, counter)
__global__ void count(int *lock, int *counter) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *counter += blockIdx.x;
    __threadfence();
    atomicExch(lock, 0);
}
