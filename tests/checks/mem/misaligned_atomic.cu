// misaligned_atomic.cu -- an atomic on a 64-bit counter that follows a 32-bit number.
// ARRAY header int[8] = zeros
// LAUNCH count<<<1, 32>>>(header)
__global__ void count(int *header) {
    auto *counter = reinterpret_cast<unsigned long long *>(header + 1);
    atomicAdd(counter, 1ull); // FINDS mem misaligned
}
