// byte_behind_a_write.cu -- a byte is read and its neighbour written; a warp then writes the byte.
// ARRAY bytes char[4] = iota
// LAUNCH spoil<<<1, 64>>>(bytes)
__global__ void spoil(char *bytes) {
    if (threadIdx.x == 0) {
        bytes[3] = bytes[1]; // FINDS race write-after-read
        bytes[0] = 7;
    }
    if (threadIdx.x == 32)
        bytes[1] = 3; // FINDS race write-after-read
}
