// streams_with_arrays_of_their_own.cu -- two streams read one array and write two.
// ARRAY in int[256] = iota
// ARRAY first int[256]
// ARRAY second int[256]
// LAUNCH scale<<<1, 256, 0, 1>>>(in, first, 2)
// LAUNCH scale<<<1, 256, 0, 2>>>(in, second, 3)
__global__ void scale(const int *in, int *out, int factor) {
    out[threadIdx.x] = in[threadIdx.x] * factor;
}
