// padding_is_copied.cu -- copies structs with padding that nobody writes, and reads their members.
// ARRAY p int[64]
// ARRAY r int[64]
// ARRAY out int[32]
// LAUNCH fill<<<1, 32>>>(p)
// LAUNCH copy<<<1, 32>>>(p, r)
// LAUNCH read<<<1, 32>>>(r, out)
struct S {
    char c;
    int i;
};
__global__ void fill(S *p) {
    p[threadIdx.x].c = threadIdx.x;
    p[threadIdx.x].i = threadIdx.x * 3;
}
__global__ void copy(const S *p, S *r) {
    r[threadIdx.x] = p[threadIdx.x];
}
__global__ void read(const S *r, int *out) {
    out[threadIdx.x] = r[threadIdx.x].c + r[threadIdx.x].i;
}
