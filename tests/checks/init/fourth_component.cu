// fourth_component.cu -- writes three components of each float4, and reads four.
// ARRAY points float4[32]
// ARRAY out float[32]
// LAUNCH place<<<1, 32>>>(points)
// LAUNCH squared<<<1, 32>>>(points, out)
__global__ void place(float *points) {
    for (int i = 0; i < 3; ++i)
        points[4 * threadIdx.x + i] = i;
}
__global__ void squared(const float4 *points, float *out) {
    float4 p = points[threadIdx.x]; // FINDS init uninitialized
    out[threadIdx.x] = p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w; // MAY init uninitialized
}
