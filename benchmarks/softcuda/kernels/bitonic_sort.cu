// bitonic_sort.cu -- each block sorts 512 keys in shared memory.
__global__ void bitonic_sort(const unsigned int *in, unsigned int *out)
{
    __shared__ unsigned int keys[512];
    int tid = threadIdx.x;
    keys[tid] = in[blockIdx.x * 512 + tid];
    __syncthreads();
    for (int size = 2; size <= 512; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            int other = tid ^ stride;
            if (other > tid) {
                unsigned int a = keys[tid], b = keys[other];
                bool ascending = (tid & size) == 0;
                if ((a > b) == ascending) {
                    keys[tid] = b;
                    keys[other] = a;
                }
            }
            __syncthreads();
        }
    out[blockIdx.x * 512 + tid] = keys[tid];
}
