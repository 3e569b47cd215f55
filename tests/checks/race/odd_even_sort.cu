// odd_even_sort.cu -- an odd-even sort without a barrier between its two phases.
// ARRAY data int[128] = iota
// LAUNCH sort<<<1, 64>>>(data)
__global__ void sort(int *data) {
    int t = threadIdx.x;
    for (int step = 0; step < 128; ++step) {
        int i = 2 * t + step % 2;
        if (i + 1 < 128) {
            int2 pair = make_int2(data[i], data[i + 1]); // FINDS race read-after-write #first; race read-after-write #second
            data[i] = max(pair.x, pair.y); // FINDS race read-after-write #first; MAY race write-after-write #both; MAY race write-after-write #own
            data[i + 1] = min(pair.x, pair.y); // FINDS race read-after-write #second; MAY race write-after-write #both; MAY race write-after-write #other
        }
    }
}
