// mask_of_a_ballot.cu -- a ballot gives the mask of the lanes that enter the branch.
// ARRAY data int[20] = iota
// LAUNCH sum<<<1, 32>>>(data, 20)
__global__ void sum(int *data, int n) {
    int lane = threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, lane < n);
    if (lane < n)
        data[lane] = __reduce_add_sync(mask, (unsigned)data[lane]);
}
