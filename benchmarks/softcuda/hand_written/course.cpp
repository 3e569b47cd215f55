// course.cpp -- what kernels of programming courses compute, as plain loops that the compiler makes
// vectors of. Borders are apart from the inner points.
#include "hand_written.h"

namespace {

constexpr int kRadius = 2, kTaps = 2 * kRadius + 1;

float tapped(const float *in, const float *taps, int width, int height, int x, int y) {
    float sum = 0;
    for (int j = 0; j < kTaps; ++j)
        for (int i = 0; i < kTaps; ++i) {
            const int column = x + i - kRadius, row = y + j - kRadius;
            if (column >= 0 && column < width && row >= 0 && row < height)
                sum += in[row * width + column] * taps[j * kTaps + i];
        }
    return sum;
}

} // namespace

void convolve(const float *in, float *out, const float *taps, int width, int height) {
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < height; ++y) {
        const bool inner = y >= kRadius && y < height - kRadius;
        const int first = inner ? kRadius : width, last = inner ? width - kRadius : width;
        for (int x = 0; x < (inner ? kRadius : width); ++x)
            out[y * width + x] = tapped(in, taps, width, height, x, y);
        for (int x = first; x < last; ++x) {
            float sum = 0;
            for (int j = 0; j < kTaps; ++j)
                for (int i = 0; i < kTaps; ++i)
                    sum += in[(y + j - kRadius) * width + x + i - kRadius] * taps[j * kTaps + i];
            out[y * width + x] = sum;
        }
        for (int x = last; x < width; ++x)
            out[y * width + x] = tapped(in, taps, width, height, x, y);
    }
}

void page_rank(const int *starts, const int *from, const float *rank, const int *degree, float *out,
               int pages, float damping) {
#pragma omp parallel for schedule(dynamic, 1024)
    for (int page = 0; page < pages; ++page) {
        float sum = 0;
        for (int e = starts[page]; e < starts[page + 1]; ++e)
            sum += rank[from[e]] / static_cast<float>(degree[from[e]]);
        out[page] = (1 - damping) / static_cast<float>(pages) + damping * sum;
    }
}

void whole_sum(const float *x, float *out, int n) {
    float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        sum += x[i];
    *out = sum;
}

void grey(const unsigned char *rgb, unsigned char *out, int n) {
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i)
        out[i] = static_cast<unsigned char>(
            (rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8);
}

void to_mono(const short *stereo, short *out, int n) {
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i)
        out[i] = static_cast<short>((stereo[2 * i] + stereo[2 * i + 1]) / 2);
}

void ring(const float *x, float *out, int n, int /*shared*/) {
#pragma omp parallel for
    for (int first = 0; first < n; first += 256) {
        float twice[512], sums[256] = {};
        for (int i = 0; i < 256; ++i)
            twice[i] = twice[i + 256] = x[first + i];
        for (int k = 0; k < 32; ++k)
            for (int i = 0; i < 256; ++i)
                sums[i] += twice[i + k] * static_cast<float>(k + 1);
        for (int i = 0; i < 256; ++i)
            out[first + i] = sums[i];
    }
}

void invert(unsigned char *rgb, int n) {
#pragma omp parallel for simd
    for (int i = 0; i < 3 * n; ++i)
        rgb[i] = static_cast<unsigned char>(255 - rgb[i]);
}
