// semaphore.cu -- lanes of one warp wait for a word that the owner sets with release semantics.
// ARRAY semaphore int[1] = ones
// ARRAY count int[1] = zeros
// LAUNCH add<<<2, 64>>>(semaphore, count)
__global__ void add(int *semaphore, int *count) {
    int before = 0;
    while (before == 0) {
        int now = 0;
        while (now == 0)
            asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(now) : "l"(semaphore) : "memory");
        asm volatile("atom.exch.acquire.gpu.global.b32 %0, [%1], 0;" : "=r"(before) : "l"(semaphore) : "memory");
    }
    *count += 1;
    asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(semaphore) : "memory");
}
