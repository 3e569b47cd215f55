// ticket_lock.cu -- a ticket lock: volatile reads of the number that is next, and fences.
// ARRAY next unsigned[1] = zeros
// ARRAY serving unsigned[1] = zeros
// ARRAY counter int[1] = zeros
// LAUNCH count<<<4, 32>>>(next, serving, counter)
__global__ void count(unsigned *next, volatile unsigned *serving, int *counter) {
    if (threadIdx.x == 0) {
        unsigned ticket = atomicAdd(next, 1);
        while (*serving != ticket) {
        }
        __threadfence();
        *counter += 1;
        __threadfence();
        *serving = ticket + 1;
    }
}
