// index_of_the_maximum.cu -- finds a maximum with an atomic, and at once searches its owner.
// ARRAY in int[64] = iota
// ARRAY best int[1] = zeros
// ARRAY index int[1] = zeros
// LAUNCH argmax<<<2, 32>>>(in, best, index)
__global__ void argmax(const int *in, int *best, int *index) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(best, in[i]); // FINDS race atomic-and-plain
    if (*best == in[i])     // FINDS race atomic-and-plain
        *index = i;         // MAY race write-after-write
}
