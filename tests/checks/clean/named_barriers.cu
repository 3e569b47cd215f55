// named_barriers.cu -- a producer's warp arrives at a named barrier, a consumer's warp waits there.
// ARRAY out int[32]
// LAUNCH produce<<<1, 64>>>(out)
__global__ void produce(int *out) {
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        buffer[lane] = lane * lane;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane] = buffer[31 - lane];
    }
}
