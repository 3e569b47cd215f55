// named_barrier_of_each_half.cu -- each half of a block waits at its own barrier, then reads the other half's values.
// ARRAY data int[128] = iota
// LAUNCH swap<<<1, 128>>>(data)
__global__ void swap(int *data) {
    __shared__ int buffer[128];
    int t = threadIdx.x;
    buffer[t] = data[t]; // FINDS race read-after-write
    int half = 1 + t / 64;
    asm volatile("bar.sync %0, 64;" ::"r"(half) : "memory");
    data[t] = buffer[t ^ 64]; // FINDS race read-after-write
}
