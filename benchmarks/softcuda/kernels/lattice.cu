// lattice.cu -- a step of the lattice Boltzmann method: 9 directions, a periodic square, 2-D blocks.
__global__ void lattice(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    int left = x == 0 ? n - 1 : x - 1, right = x == n - 1 ? 0 : x + 1;
    int up = y == 0 ? n - 1 : y - 1, down = y == n - 1 ? 0 : y + 1;
    int cells = n * n, here = y * n + x;
    float f0 = in[here], f1 = in[cells + y * n + left], f2 = in[2 * cells + up * n + x];
    float f3 = in[3 * cells + y * n + right], f4 = in[4 * cells + down * n + x];
    float f5 = in[5 * cells + up * n + left], f6 = in[6 * cells + up * n + right];
    float f7 = in[7 * cells + down * n + right], f8 = in[8 * cells + down * n + left];
    float mass = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    float u = (f1 + f5 + f8 - f3 - f6 - f7) / mass, v = (f2 + f5 + f6 - f4 - f7 - f8) / mass;
    float rest = 1.0f - 1.5f * (u * u + v * v);
    auto relax = [&](int direction, float f, float weight, float along) {
        float equilibrium = weight * mass * (rest + 3.0f * along + 4.5f * along * along);
        out[direction * cells + here] = f + 0.6f * (equilibrium - f);
    };
    relax(0, f0, 4.0f / 9, 0.0f);
    relax(1, f1, 1.0f / 9, u);
    relax(2, f2, 1.0f / 9, v);
    relax(3, f3, 1.0f / 9, -u);
    relax(4, f4, 1.0f / 9, -v);
    relax(5, f5, 1.0f / 36, u + v);
    relax(6, f6, 1.0f / 36, v - u);
    relax(7, f7, 1.0f / 36, -u - v);
    relax(8, f8, 1.0f / 36, u - v);
}
