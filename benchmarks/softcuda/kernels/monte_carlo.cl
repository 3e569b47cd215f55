uint4 philox(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        uint high0 = mul_hi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
        uint high1 = mul_hi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
        c = (uint4)(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

float uniform(uint bits) { return (bits >> 8) * (1.0f / 16777216.0f); }

kernel void monte_carlo(global uint *inside, int steps, uint seed)
{
    local uint part[256];
    uint thread = get_global_id(0), tid = get_local_id(0), count = 0;
    for (int step = 0; step < steps; ++step) {
        uint4 r = philox((uint4)(step, 0, thread, 0), (uint2)(seed, 0));
        float x = uniform(r.x), y = uniform(r.y), z = uniform(r.z), w = uniform(r.w);
        if (x * x + y * y < 1.0f)
            ++count;
        if (z * z + w * w < 1.0f)
            ++count;
    }
    part[tid] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] += part[tid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tid == 0)
        inside[get_group_id(0)] = part[0];
}
