// acquire_and_release.cu -- a flag with release and acquire, as in PTX.
// ARRAY data int[1] = zeros
// ARRAY flag int[1] = zeros
// ARRAY out int[1]
// LAUNCH hand_over<<<2, 1>>>(data, flag, out)
__global__ void hand_over(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        int seen = 0;
        while (seen == 0)
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        *out = *data;
    }
}
