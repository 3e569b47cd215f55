// three_of_four_words.cu -- a compiler loads three adjacent words as four, and uses three.
// ARRAY sums int[4] = first 3 iota
// ARRAY out int[96]
// LAUNCH add<<<1, 96>>>(sums, out)
__device__ int sum_of_three(unsigned long long words) {
    int a, b, c, unused;
    asm volatile("ld.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(unused) : "l"(words));
    return a + b + c;
}
__global__ void add(const int *sums, int *out) {
    __shared__ __align__(16) int of_warps[4];
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = sum_of_three((unsigned long long)of_warps) + sum_of_three((unsigned long long)sums);
}
