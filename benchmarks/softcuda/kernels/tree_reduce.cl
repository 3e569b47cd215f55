kernel void tree_reduce(global const float *x, global float *sums)
{
    local float part[256];
    int tid = get_local_id(0);
    global const float *mine = x + (size_t)get_group_id(0) * 2048;
    float sum = 0;
    for (int i = tid; i < 2048; i += 256)
        sum += mine[i];
    part[tid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] += part[tid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tid == 0)
        sums[get_group_id(0)] = part[0];
}
