// past_the_tail_of_a_queue.cu -- eight items are queued, and sixteen taken.
// ARRAY queue int[32]
// ARRAY out int[16]
// LAUNCH push<<<1, 8>>>(queue)
// LAUNCH pop<<<1, 16>>>(queue, out)
__global__ void push(int *queue) {
    queue[threadIdx.x] = threadIdx.x * 10;
}
__global__ void pop(const int *queue, int *out) {
    out[threadIdx.x] = queue[threadIdx.x]; // FINDS init uninitialized
}
