// barrier_of_each_half.cu -- each half of a block has a named barrier, and exchanges values within the half.
// ARRAY data int[128] = iota
// LAUNCH swap<<<1, 128>>>(data)
__global__ void swap(int *data) {
    __shared__ int buffer[128];
    int t = threadIdx.x;
    int half = 1 + t / 64;
    buffer[t] = data[t];
    asm volatile("bar.sync %0, 64;" ::"r"(half) : "memory");
    data[t] = buffer[t ^ 32];
}
