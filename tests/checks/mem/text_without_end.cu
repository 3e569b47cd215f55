// text_without_end.cu -- searches for a text's final zero, which is missing.
// ARRAY text char[300] = ones
// ARRAY length int[1]
// LAUNCH measure<<<1, 1>>>(text, length)
__global__ void measure(const char *text, int *length) {
    int n = 0;
    while (n < 4096 && text[n] != 0) // FINDS mem out-of-bounds
        ++n;
    *length = n;
}
