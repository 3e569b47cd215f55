// unlisted.cu -- kernels for which nobody tuned softcuda (unlisted_kernels.py): matrices, images, text, graphs, lattices,
// dynamic programming, a histogram, and an interpreter. They are as a programmer writes them for the first time.
extern "C" __global__ void mat4(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *A = a + i * 16, *B = b + i * 16; float *C = c + i * 16;
    for (int r = 0; r < 4; r++) for (int q = 0; q < 4; q++) {
        float s = 0;
        for (int k = 0; k < 4; k++) s += A[r * 4 + k] * B[k * 4 + q];
        C[r * 4 + q] = s;
    }
}
extern "C" __global__ void flip(const float *in, float *out, int w, int h) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= w * h) return;
    int y = k / w, x = k % w;
    out[k] = in[y * w + (w - 1 - x)];
}
extern "C" __global__ void im2col(const float *in, float *out, int c, int w, int h) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= c * w * h * 9) return;
    int x = k % w, y = k / w % h, t = k / (w * h) % 9, ch = k / (w * h * 9);
    int sx = x + t % 3 - 1, sy = y + t / 3 - 1;
    out[k] = sx >= 0 && sx < w && sy >= 0 && sy < h ? in[(ch * h + sy) * w + sx] : 0;
}
extern "C" __global__ void bias_nchw(const float *b, float *x, int n, int c, int hw) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) x[k] += b[k / hw % c];
}
extern "C" __global__ void swap_rb(const unsigned char *in, unsigned char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[3 * i] = in[3 * i + 2]; out[3 * i + 1] = in[3 * i + 1]; out[3 * i + 2] = in[3 * i];
}
extern "C" __global__ void bright(const unsigned char *in, unsigned char *out, int n, int gain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int c = 0; c < 3; c++) out[3 * i + c] = min(255, in[3 * i + c] * gain >> 6);
}
extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int xm = (x + w - 1) % w, xp = (x + 1) % w, ym = (y + h - 1) % h, yp = (y + 1) % h;
    int s = in[ym * w + xm] + in[ym * w + x] + in[ym * w + xp] + in[y * w + xm] + in[y * w + xp]
          + in[yp * w + xm] + in[yp * w + x] + in[yp * w + xp];
    out[y * w + x] = s == 3 || (s == 2 && in[y * w + x]);
}
extern "C" __global__ void bfs_level(const int *starts, const int *to, const int *level, int *next, int n, int d) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != d) return;
    for (int e = starts[v]; e < starts[v + 1]; e++) { int u = to[e]; if (level[u] < 0) next[u] = d + 1; }
}
extern "C" __global__ void count_words(const unsigned char *text, int *out, int n, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = i * each, b = min(a + each, n), words = 0;
    for (int k = a; k < b; k++) { bool now = text[k] != ' ', before = k > 0 && text[k - 1] != ' '; words += now && !before; }
    out[i] = words;
}
extern "C" __global__ void match4(const unsigned char *text, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 4 > n) return;
    out[i] = text[i] == 'a' && text[i + 1] == 'b' && text[i + 2] == 'a' && text[i + 3] == 'c';
}
extern "C" __global__ void edit(const unsigned char *a, const unsigned char *b, int *out, int n, int len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int row[33];
    for (int k = 0; k <= len; k++) row[k] = k;
    for (int j = 0; j < len; j++) {
        int diag = row[0]; row[0] = j + 1;
        for (int k = 0; k < len; k++) {
            int old = row[k + 1];
            int v = min(min(row[k], old) + 1, diag + (a[i * len + j] != b[i * len + k]));
            diag = old; row[k + 1] = v;
        }
    }
    out[i] = row[len];
}
extern "C" __global__ void odd_even(int *x, int n, int phase) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 >= n) return;
    int a = x[i], b = x[i + 1];
    if (a > b) { x[i] = b; x[i + 1] = a; }
}
extern "C" __global__ void byte_hist(const unsigned char *in, unsigned *out, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&out[in[i]], 1u);
}
extern "C" __global__ void bytecode(const int *code, const float *in, float *out, int length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float acc = in[i], reg = 1;
    for (int pc = 0; pc < length; pc++) {
        switch (code[pc]) {
        case 0: acc += reg; break;
        case 1: acc *= 0.5f; break;
        case 2: reg = acc; break;
        case 3: acc = acc - reg * reg; break;
        case 4: acc = fabsf(acc); break;
        }
    }
    out[i] = acc;
}
extern "C" __global__ void ising(const float *r, signed char *s, int w, int h, int color) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int y = k / (w / 2), x = 2 * (k % (w / 2)) + ((y + color) & 1);
    if (y >= h) return;
    int n = s[y * w + (x + 1) % w] + s[y * w + (x + w - 1) % w] + s[(y + 1) % h * w + x] + s[(y + h - 1) % h * w + x];
    int e = 2 * s[y * w + x] * n;
    if (e <= 0 || r[k] < expf(-0.4f * e)) s[y * w + x] = -s[y * w + x];
}
extern "C" __global__ void rot90(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    out[x * h + (h - 1 - y)] = in[y * w + x];
}
extern "C" __global__ void knap(const int *in, int *out, int cap, int weight, int value) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c > cap) return;
    int best = in[c];
    if (c >= weight) best = max(best, in[c - weight] + value);
    out[c] = best;
}
extern "C" __global__ void row_scan(const float *in, float *out, int w, int h) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    float s = 0;
    for (int x = 0; x < w; x++) { s += in[y * w + x]; out[y * w + x] = s; }
}
