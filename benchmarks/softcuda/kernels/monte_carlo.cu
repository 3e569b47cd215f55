// monte_carlo.cu -- pi from random points from Philox 4x32-10: two points from each call; the
// counter is the thread's number and the step.
__device__ uint4 philox(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        unsigned int high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
        unsigned int high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
        c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

__device__ float uniform(unsigned int bits) { return (bits >> 8) * (1.0f / 16777216.0f); }

__global__ void monte_carlo(unsigned int *inside, int steps, unsigned int seed)
{
    __shared__ unsigned int part[256];
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (int step = 0; step < steps; ++step) {
        uint4 r = philox(make_uint4(step, 0, thread, 0), make_uint2(seed, 0));
        float x = uniform(r.x), y = uniform(r.y), z = uniform(r.z), w = uniform(r.w);
        if (x * x + y * y < 1.0f)
            ++count;
        if (z * z + w * w < 1.0f)
            ++count;
    }
    part[threadIdx.x] = count;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        inside[blockIdx.x] = part[0];
}
