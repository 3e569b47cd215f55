// n_body.cu -- accelerations of n bodies (x, y, z, mass), 256 of them in shared memory at a time;
// n is a multiple of 256.
__global__ void n_body(const float4 *bodies, float4 *accelerations, int n)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += 256) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; ++j) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float distance2 = dx * dx + dy * dy + dz * dz + 1e-3f;
            float inverse = rsqrtf(distance2);
            float scale = other.w * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        __syncthreads();
    }
    accelerations[i] = make_float4(ax, ay, az, 0);
}
