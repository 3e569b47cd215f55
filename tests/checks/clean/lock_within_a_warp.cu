// lock_within_a_warp.cu -- the lanes of a warp take a lock one after the other.
// ARRAY lock int[1] = zeros
// ARRAY count int[1] = zeros
// LAUNCH add<<<1, 32>>>(lock, count)
__global__ void add(int *lock, int *count) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
