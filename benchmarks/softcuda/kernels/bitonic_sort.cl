kernel void bitonic_sort(global const uint *in, global uint *out)
{
    local uint keys[512];
    int tid = get_local_id(0);
    keys[tid] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int size = 2; size <= 512; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            int other = tid ^ stride;
            if (other > tid) {
                uint a = keys[tid], b = keys[other];
                bool ascending = (tid & size) == 0;
                if ((a > b) == ascending) {
                    keys[tid] = b;
                    keys[other] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    out[get_global_id(0)] = keys[tid];
}
