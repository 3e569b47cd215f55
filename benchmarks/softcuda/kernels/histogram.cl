kernel void histogram(global const uchar *data, global uint *bins, int n)
{
    local uint mine[256];
    int tid = get_local_id(0);
    mine[tid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_add(&mine[data[i]], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[tid], mine[tid]);
}
