// scan.cu -- Blelloch's exclusive scan: 512 threads scan 1024 values in shared memory; the blocks'
// sums are scanned in the same way and added.
__global__ void scan_blocks(const int *in, int *out, int *sums)
{
    __shared__ int tree[1024];
    int tid = threadIdx.x, base = blockIdx.x * 1024;
    tree[2 * tid] = in[base + 2 * tid];
    tree[2 * tid + 1] = in[base + 2 * tid + 1];
    int offset = 1;
    for (int active = 512; active > 0; active >>= 1) {
        __syncthreads();
        if (tid < active) {
            int left = offset * (2 * tid + 1) - 1, right = offset * (2 * tid + 2) - 1;
            tree[right] += tree[left];
        }
        offset *= 2;
    }
    if (tid == 0) {
        sums[blockIdx.x] = tree[1023];
        tree[1023] = 0;
    }
    for (int active = 1; active < 1024; active *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < active) {
            int left = offset * (2 * tid + 1) - 1, right = offset * (2 * tid + 2) - 1;
            int t = tree[left];
            tree[left] = tree[right];
            tree[right] += t;
        }
    }
    __syncthreads();
    out[base + 2 * tid] = tree[2 * tid];
    out[base + 2 * tid + 1] = tree[2 * tid + 1];
}

__global__ void add_sums(int *out, const int *sums)
{
    int base = blockIdx.x * 1024, sum = sums[blockIdx.x];
    out[base + threadIdx.x] += sum;
    out[base + threadIdx.x + 512] += sum;
}
