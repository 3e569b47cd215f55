// queue_between_blocks.cu -- a producer raises the tail of a queue before it stores the item.
// ARRAY items int[64] = zeros
// ARRAY tail int[1] = zeros
// ARRAY out int[1] = zeros
// LAUNCH queue<<<2, 1>>>(items, tail, out)
__global__ void queue(int *items, int *tail, int *out) {
    if (blockIdx.x == 0) {
        for (int i = 0; i < 16; ++i) {
            int place = atomicAdd(tail, 1);
            __threadfence();
            items[place] = i + 1; // FINDS race read-after-write
        }
    } else {
        int sum = 0;
        while (atomicAdd(tail, 0) < 16) {
        }
        __threadfence();
        for (int i = 0; i < 16; ++i)
            sum += items[i]; // FINDS race read-after-write
        *out = sum;
    }
}
