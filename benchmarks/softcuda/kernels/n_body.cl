kernel void n_body(global const float4 *bodies, global float4 *accelerations, int n)
{
    local float4 tile[256];
    int i = get_global_id(0), tid = get_local_id(0);
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += 256) {
        tile[tid] = bodies[start + tid];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 256; ++j) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float distance2 = dx * dx + dy * dy + dz * dz + 1e-3f;
            float inverse = rsqrt(distance2);
            float scale = other.w * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    accelerations[i] = (float4)(ax, ay, az, 0);
}
