kernel void scan_blocks(global const int *in, global int *out, global int *sums)
{
    local int tree[1024];
    int tid = get_local_id(0), base = get_group_id(0) * 1024;
    tree[2 * tid] = in[base + 2 * tid];
    tree[2 * tid + 1] = in[base + 2 * tid + 1];
    int offset = 1;
    for (int active = 512; active > 0; active >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tid < active) {
            int left = offset * (2 * tid + 1) - 1, right = offset * (2 * tid + 2) - 1;
            tree[right] += tree[left];
        }
        offset *= 2;
    }
    if (tid == 0) {
        sums[get_group_id(0)] = tree[1023];
        tree[1023] = 0;
    }
    for (int active = 1; active < 1024; active *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tid < active) {
            int left = offset * (2 * tid + 1) - 1, right = offset * (2 * tid + 2) - 1;
            int t = tree[left];
            tree[left] = tree[right];
            tree[right] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + 2 * tid] = tree[2 * tid];
    out[base + 2 * tid + 1] = tree[2 * tid + 1];
}

kernel void add_sums(global int *out, global const int *sums)
{
    int base = get_group_id(0) * 1024, sum = sums[get_group_id(0)];
    out[base + get_local_id(0)] += sum;
    out[base + get_local_id(0) + 512] += sum;
}
