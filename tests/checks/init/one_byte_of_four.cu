// one_byte_of_four.cu -- writes a flag's lowest byte, and reads an int.
// ARRAY flags int[32]
// ARRAY out int[32]
// LAUNCH set<<<1, 32>>>(flags)
// LAUNCH count<<<1, 32>>>(flags, out)
__global__ void set(unsigned char *flags) {
    flags[4 * threadIdx.x] = threadIdx.x % 2;
}
__global__ void count(const int *flags, int *out) {
    out[threadIdx.x] = flags[threadIdx.x] != 0; // FINDS init uninitialized
}
