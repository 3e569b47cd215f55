// member_of_null.cu -- writes a member through a null pointer: the address is small, but not zero.
// LAUNCH set<<<1, 32>>>(0)
struct State {
    int counters[64];
    int done;
};
__global__ void set(State *state) {
    if (threadIdx.x == 0)
        state->done = 1; // FINDS mem null|out-of-bounds
}
