// member_not_set.cu -- a record of which one member is set.
// ARRAY particles int[128]
// ARRAY out float[32]
// LAUNCH place<<<1, 32>>>(particles)
// LAUNCH weigh<<<1, 32>>>(particles, out)
struct Particle {
    float x, y, z, mass;
};
__global__ void place(Particle *particles) {
    Particle &p = particles[threadIdx.x];
    p.x = p.y = p.z = threadIdx.x;
}
__global__ void weigh(const Particle *particles, float *out) {
    out[threadIdx.x] = particles[threadIdx.x].mass; // FINDS init uninitialized
}
