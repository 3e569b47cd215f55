// queue_between_blocks.cu -- a producer stores an item, fences, then raises the tail.
// ARRAY items int[64] = zeros
// ARRAY tail int[1] = zeros
// ARRAY out int[1]
// LAUNCH queue<<<2, 1>>>(items, tail, out)
__global__ void queue(int *items, int *tail, int *out) {
    if (blockIdx.x == 0) {
        for (int i = 0; i < 16; ++i) {
            items[i] = i + 1;
            __threadfence();
            atomicAdd(tail, 1);
        }
    } else {
        int sum = 0;
        while (atomicAdd(tail, 0) < 16) {
        }
        __threadfence();
        for (int i = 0; i < 16; ++i)
            sum += items[i];
        *out = sum;
    }
}
