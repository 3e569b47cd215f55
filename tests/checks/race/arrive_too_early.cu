// arrive_too_early.cu -- a producer's warp arrives at the named barrier before it has written.
// ARRAY out int[32]
// LAUNCH produce<<<1, 64>>>(out)
__global__ void produce(int *out) {
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        buffer[lane] = lane * lane; // FINDS race read-after-write
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane] = buffer[lane]; // FINDS race read-after-write
    }
}
