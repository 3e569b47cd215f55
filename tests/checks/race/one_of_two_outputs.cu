// one_of_two_outputs.cu -- the block chooses the array that it writes, which may be the input of others.
// ARRAY a int[256] = iota
// ARRAY b int[256] = iota
// LAUNCH step<<<2, 128>>>(a, b)
__global__ void step(int *a, int *b) {
    int *to = blockIdx.x == 0 ? a : b;
    int value = a[255 - threadIdx.x] + a[threadIdx.x + 1]; // FINDS race read-after-write
    to[threadIdx.x] = value; // FINDS race read-after-write
}
