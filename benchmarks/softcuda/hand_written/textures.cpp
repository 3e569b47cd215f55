// textures.cpp -- what texture units compute, as plain loops that the compiler makes vectors of.
#include "hand_written.h"

#include <algorithm>
#include <cmath>

namespace {

/// The texels along one axis, with the weight of the second one in 256ths.
struct Span {
    int first, second;
    float weight;
};

inline Span span_of(float x, int n) {
    float fixed = std::floor(x * 256 + 0.5F) - 128;
    fixed = std::min(std::max(fixed, 0.0F), static_cast<float>(n - 1) * 256);
    const int whole = static_cast<int>(fixed);
    const int first = whole >> 8;
    return {first, std::min(first + 1, n - 1), static_cast<float>(whole & 255) / 256};
}

} // namespace

void zoom_linear(const float *in, float *out, int width, int height, float step) {
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < height; ++y) {
        const Span v = span_of(static_cast<float>(y) * step + 0.5F, height);
        const float *upper = in + static_cast<std::size_t>(v.first) * width;
        const float *lower = in + static_cast<std::size_t>(v.second) * width;
        float *to = out + static_cast<std::size_t>(y) * width;
        for (int x = 0; x < width; ++x) {
            const Span u = span_of(static_cast<float>(x) * step + 0.5F, width);
            const float above = upper[u.first] + (upper[u.second] - upper[u.first]) * u.weight;
            const float below = lower[u.first] + (lower[u.second] - lower[u.first]) * u.weight;
            to[x] = above + (below - above) * v.weight;
        }
    }
}

void zoom_volume(const float *in, float *out, int n, float step) {
    const std::size_t row = n, slice = row * n;
#pragma omp parallel for schedule(dynamic, 1)
    for (int z = 0; z < n; ++z) {
        const Span w = span_of(static_cast<float>(z) * step + 0.5F, n);
        for (int y = 0; y < n; ++y) {
            const Span v = span_of(static_cast<float>(y) * step + 0.5F, n);
            for (int x = 0; x < n; ++x) {
                const Span u = span_of(static_cast<float>(x) * step + 0.5F, n);
                float planes[2];
                for (int k = 0; k < 2; ++k) {
                    const float *plane = in + slice * (k == 0 ? w.first : w.second);
                    const float *upper = plane + row * v.first, *lower = plane + row * v.second;
                    const float above =
                        upper[u.first] + (upper[u.second] - upper[u.first]) * u.weight;
                    const float below =
                        lower[u.first] + (lower[u.second] - lower[u.first]) * u.weight;
                    planes[k] = above + (below - above) * v.weight;
                }
                out[slice * z + row * y + x] = planes[0] + (planes[1] - planes[0]) * w.weight;
            }
        }
    }
}

void turn_bytes(const unsigned char *in, float *out, int width, int height, float cosine,
                float sine) {
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const float u = static_cast<float>(x) * cosine - static_cast<float>(y) * sine;
            const float v = static_cast<float>(x) * sine + static_cast<float>(y) * cosine;
            const int i = std::clamp(static_cast<int>(std::floor(u)), 0, width - 1);
            const int j = std::clamp(static_cast<int>(std::floor(v)), 0, height - 1);
            out[static_cast<std::size_t>(y) * width + x] =
                static_cast<float>(in[static_cast<std::size_t>(j) * width + i]) / 255;
        }
}

void surface_stencil(const float *in, float *out, int width, int height) {
    const std::size_t row = width;
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 1; y < height - 1; ++y)
        for (int x = 1; x < width - 1; ++x) {
            const std::size_t at = row * y + x;
            out[at] = in[at] + in[at - 1] + in[at + 1] + in[at - row] + in[at + row];
        }
}
