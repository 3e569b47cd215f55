// kernels.cu -- small kernels whose counters softcuda's profile and Nsight Compute both have.
//
// All kernels have the same parameters. Bodies that must stay branches contain a loop, because a
// compiler turns shorter ones into selections. launches.def has the shapes of the launches.

#define KERNEL(name) extern "C" __global__ void name(const float *in, float *out, int n)
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(coalesced) { out[INDEX] = in[INDEX] + 1.0f; }
KERNEL(misaligned) { out[INDEX] = in[INDEX + 1] + 1.0f; }
KERNEL(stride_2) { out[INDEX] = in[2 * INDEX]; }
KERNEL(stride_8) { out[INDEX] = in[8 * INDEX]; }
KERNEL(stride_32) { out[32 * INDEX] = in[32 * INDEX]; }
KERNEL(broadcast) { out[INDEX] = in[blockIdx.x]; }
KERNEL(doubles) {
    reinterpret_cast<double *>(out)[INDEX] = reinterpret_cast<const double *>(in)[INDEX];
}
KERNEL(quadruples) {
    reinterpret_cast<float4 *>(out)[INDEX] = reinterpret_cast<const float4 *>(in)[INDEX];
}
KERNEL(bytes) { reinterpret_cast<char *>(out)[INDEX] = reinterpret_cast<const char *>(in)[INDEX]; }
KERNEL(triples) { // the x, y and z of points
    for (int k = 0; k < 3; ++k)
        out[3 * INDEX + k] = in[3 * INDEX + k] * 2.0f;
}
KERNEL(scattered) { out[(INDEX * 977) & 16383] = in[(INDEX * 613 + 7) & 16383]; }
KERNEL(double_broadcast) {
    reinterpret_cast<double *>(out)[INDEX] = reinterpret_cast<const double *>(in)[threadIdx.x / 32];
}

KERNEL(shared_stride_1) {
    __shared__ float s[256];
    s[threadIdx.x] = in[INDEX];
    __syncthreads();
    out[INDEX] = s[threadIdx.x ^ 1];
}
KERNEL(shared_stride_2) {
    __shared__ float s[512];
    s[2 * threadIdx.x] = in[INDEX];
    __syncthreads();
    out[INDEX] = s[2 * (threadIdx.x ^ 1)];
}
KERNEL(shared_stride_32) {
    __shared__ float s[32 * 128];
    s[32 * threadIdx.x] = in[INDEX];
    __syncthreads();
    out[INDEX] = s[32 * (threadIdx.x ^ 1)];
}
KERNEL(shared_doubles) {
    __shared__ double s[256];
    s[threadIdx.x] = in[INDEX];
    __syncthreads();
    out[INDEX] = s[threadIdx.x ^ 1];
}
KERNEL(shared_doubles_stride_2) {
    __shared__ double s[512];
    s[2 * threadIdx.x] = in[INDEX];
    __syncthreads();
    out[INDEX] = s[2 * (threadIdx.x ^ 1)];
}
KERNEL(shared_quadruples) {
    __shared__ float4 s[128];
    s[threadIdx.x] = reinterpret_cast<const float4 *>(in)[INDEX];
    __syncthreads();
    reinterpret_cast<float4 *>(out)[INDEX] = s[threadIdx.x ^ 1];
}
KERNEL(shared_broadcast) {
    __shared__ float s[256];
    s[threadIdx.x] = in[INDEX];
    __syncthreads();
    out[INDEX] = s[threadIdx.x / 32] + s[threadIdx.x & ~3];
}
KERNEL(transpose) { // a matrix of 128 columns with blocks of 32 x 8 threads, instead of 2-d indices
    __shared__ float tile[32][32];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    int column = blockIdx.x % 4 * 32, row = blockIdx.x / 4 * 32;
    for (int k = 0; k < 32; k += 8)
        tile[y + k][x] = in[(row + y + k) * 128 + column + x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8)
        out[(column + y + k) * 128 + row + x] = tile[x][y + k];
}
KERNEL(transpose_padded) {
    __shared__ float tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    int column = blockIdx.x % 4 * 32, row = blockIdx.x / 4 * 32;
    for (int k = 0; k < 32; k += 8)
        tile[y + k][x] = in[(row + y + k) * 128 + column + x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8)
        out[(column + y + k) * 128 + row + x] = tile[x][y + k];
}

KERNEL(half_of_warp) {
    float sum = 0.0f;
    if (threadIdx.x % 32 < 16)
        for (int k = 0; k < n; ++k)
            sum = sum * in[k] + 1.0f;
    out[INDEX] = sum;
}
KERNEL(one_lane) {
    float sum = 0.0f;
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < n; ++k)
            sum = sum * in[k] + 1.0f;
    out[INDEX] = sum;
}
KERNEL(lanes_by_turns) { // lane k runs k rounds
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < threadIdx.x % 32; ++k)
        sum = sum * in[k] + 1.0f;
    out[INDEX] = sum;
}
KERNEL(reduction) {
    __shared__ float s[256];
    s[threadIdx.x] = in[INDEX];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}
KERNEL(partial_warp) { out[INDEX] = in[2 * INDEX] * 3.0f; }
