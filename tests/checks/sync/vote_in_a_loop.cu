// vote_in_a_loop.cu -- a vote of all lanes in a loop that they leave at different times.
// ARRAY data int[32] = iota
// LAUNCH count<<<1, 32>>>(data)
__global__ void count(int *data) {
    int lane = threadIdx.x;
    int left = data[lane], turns = 0;
    while (left > 0) {
        turns += __popc(__ballot_sync(0xffffffff, left > 0)); // FINDS sync wrong-mask
        left -= 5;
    }
    data[lane] = turns;
}
