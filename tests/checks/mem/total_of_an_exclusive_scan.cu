// total_of_an_exclusive_scan.cu -- stores the total after an exclusive scan's last element.
// ARRAY in int[64] = ones
// ARRAY out int[64]
// LAUNCH scan<<<1, 64>>>(in, out, 64)
__global__ void scan(const int *in, int *out, int n) {
    int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < t; ++i)
        sum += in[i];
    out[t] = sum;
    if (t == n - 1)
        out[n] = sum + in[t]; // FINDS mem out-of-bounds
}
