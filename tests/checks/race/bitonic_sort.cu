// bitonic_sort.cu -- a bitonic sort in shared memory, with its barrier outside the inner loop.
// ARRAY data int[128] = iota
// LAUNCH sort<<<1, 128>>>(data)
__global__ void sort(int *data) {
    __shared__ int keys[128];
    int t = threadIdx.x;
    keys[t] = data[t] * 73 % 128;
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t) {
                int a = keys[t], b = keys[other]; // FINDS race read-after-write #own; race read-after-write #other
                if ((a > b) == ((t & size) == 0)) {
                    keys[t] = b;     // FINDS race read-after-write #own; MAY race write-after-write #both; MAY race write-after-write #first
                    keys[other] = a; // FINDS race read-after-write #other; MAY race write-after-write #both; MAY race write-after-write #second
                }
            }
        }
        __syncthreads();
    }
    data[t] = keys[t];
}
