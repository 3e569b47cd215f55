// unlisted.cpp -- the kernels of unlisted.cu as plain loops on one core, whose speed is left to the
// compiler: the loops over threads become loops over rows and columns.
#include "hand_written.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using std::max;
using std::min;

void mat4(const float *a, const float *b, float *c, int n) {
    for (int i = 0; i < n; ++i)
        for (int r = 0; r < 4; ++r)
            for (int q = 0; q < 4; ++q) {
                float sum = 0;
                for (int k = 0; k < 4; ++k)
                    sum += a[16 * i + 4 * r + k] * b[16 * i + 4 * k + q];
                c[16 * i + 4 * r + q] = sum;
            }
}

void flip(const float *in, float *out, int width, int height) {
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            out[y * width + x] = in[y * width + width - 1 - x];
}

void im2col(const float *in, float *out, int channels, int width, int height) {
    for (int k = 0; k < channels * 9; ++k) {
        const int across = k % 3 - 1, down = k / 3 % 3 - 1;
        const float *image = in + k / 9 * width * height;
        for (int y = 0; y < height; ++y) {
            const int from = y + down;
            for (int x = 0; x < width; ++x) {
                const int left = x + across;
                const bool inside = left >= 0 && left < width && from >= 0 && from < height;
                out[(k * height + y) * width + x] = inside ? image[from * width + left] : 0;
            }
        }
    }
}

void bias_nchw(const float *bias, float *x, int n, int channels, int size) {
    for (int first = 0; first < n; first += size)
        for (int k = 0; k < size; ++k)
            x[first + k] += bias[first / size % channels];
}

void swap_rb(const unsigned char *in, unsigned char *out, int n) {
    for (int i = 0; i < n; ++i) {
        out[3 * i] = in[3 * i + 2];
        out[3 * i + 1] = in[3 * i + 1];
        out[3 * i + 2] = in[3 * i];
    }
}

void bright(const unsigned char *in, unsigned char *out, int n, int gain) {
    for (int i = 0; i < 3 * n; ++i)
        out[i] = static_cast<unsigned char>(min(255, in[i] * gain >> 6));
}

void life(const unsigned char *in, unsigned char *out, int width, int height) {
    for (int y = 0; y < height; ++y) {
        const unsigned char *above = in + (y + height - 1) % height * width;
        const unsigned char *row = in + y * width, *below = in + (y + 1) % height * width;
        for (int x = 0; x < width; ++x) {
            const int left = x ? x - 1 : width - 1, right = x + 1 == width ? 0 : x + 1;
            const int sum = above[left] + above[x] + above[right] + row[left] + row[right] +
                            below[left] + below[x] + below[right];
            out[y * width + x] = sum == 3 || (sum == 2 && row[x]);
        }
    }
}

void bfs_level(const int *starts, const int *to, const int *level, int *next, int n, int depth) {
    for (int v = 0; v < n; ++v)
        if (level[v] == depth)
            for (int e = starts[v]; e < starts[v + 1]; ++e)
                if (level[to[e]] < 0)
                    next[to[e]] = depth + 1;
}

void count_words(const unsigned char *text, int *out, int n, int each) {
    for (int first = 0; first < n; first += each) {
        int words = 0;
        for (int k = first; k < min(first + each, n); ++k)
            words += text[k] != ' ' && !(k > 0 && text[k - 1] != ' ');
        out[first / each] = words;
    }
}

void match4(const unsigned char *text, int *out, int n) {
    for (int i = 0; i + 4 <= n; ++i)
        out[i] =
            (text[i] == 'a') & (text[i + 1] == 'b') & (text[i + 2] == 'a') & (text[i + 3] == 'c');
}

void edit(const unsigned char *a, const unsigned char *b, int *out, int n, int length) {
    int row[33];
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k <= length; ++k)
            row[k] = k;
        for (int j = 0; j < length; ++j) {
            int diagonal = row[0];
            row[0] = j + 1;
            for (int k = 0; k < length; ++k) {
                const int old = row[k + 1];
                row[k + 1] =
                    min(min(row[k], old) + 1, diagonal + (a[i * length + j] != b[i * length + k]));
                diagonal = old;
            }
        }
        out[i] = row[length];
    }
}

void odd_even(int *x, int n, int phase) {
    for (int i = phase; i + 1 < n; i += 2) {
        const int a = x[i], b = x[i + 1];
        x[i] = min(a, b);
        x[i + 1] = max(a, b);
    }
}

void byte_hist(const unsigned char *in, unsigned *out, int n) {
    for (int i = 0; i < n; ++i)
        ++out[in[i]];
}

void bytecode(const int *code, const float *in, float *out, int length, int n) {
    for (int i = 0; i < n; ++i) {
        float sum = in[i], kept = 1;
        for (int k = 0; k < length; ++k)
            switch (code[k]) {
            case 0:
                sum += kept;
                break;
            case 1:
                sum *= 0.5f;
                break;
            case 2:
                kept = sum;
                break;
            case 3:
                sum = sum - kept * kept;
                break;
            default:
                sum = std::fabs(sum);
            }
        out[i] = sum;
    }
}

void ising(const float *random, signed char *spins, int width, int height, int color) {
    for (int y = 0; y < height; ++y) {
        const signed char *above = spins + (y + height - 1) % height * width;
        const signed char *below = spins + (y + 1) % height * width;
        signed char *row = spins + y * width;
        for (int k = 0; k < width / 2; ++k) {
            const int x = 2 * k + ((y + color) & 1);
            const int left = x ? x - 1 : width - 1, right = x + 1 == width ? 0 : x + 1;
            const int energy = 2 * row[x] * (row[left] + row[right] + above[x] + below[x]);
            if (energy <= 0 ||
                random[y * (width / 2) + k] < std::exp(-0.4f * static_cast<float>(energy)))
                row[x] = static_cast<signed char>(-row[x]);
        }
    }
}

void rot90(const float *in, float *out, int width, int height) {
    for (int x = 0; x < width; ++x)
        for (int y = 0; y < height; ++y)
            out[x * height + height - 1 - y] = in[y * width + x];
}

void knap(const int *in, int *out, int capacity, int weight, int value) {
    for (int c = 0; c < min(weight, capacity + 1); ++c)
        out[c] = in[c];
    for (int c = weight; c <= capacity; ++c)
        out[c] = max(in[c], in[c - weight] + value);
}

void row_scan(const float *in, float *out, int width, int height) {
    for (int y = 0; y < height; ++y) {
        float sum = 0;
        for (int x = 0; x < width; ++x)
            out[y * width + x] = sum += in[y * width + x];
    }
}
