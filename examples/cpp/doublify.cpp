// doublify.cpp -- the first tutorial in C++: double every element of an array with a kernel.
#include <pycuda/pycuda.h>

#include <array>
#include <cstdio>
#include <exception>
#include <span>

namespace {

constexpr const char *source = R"(
__global__ void doublify(float *a)
{
  int idx = threadIdx.x + threadIdx.y*4;
  a[idx] *= 2;
}
)";

/// Whether `doubled` is twice `original`; prints both.
bool show(std::span<const float> original, std::span<const float> doubled) {
    bool right = true;
    for (std::size_t i = 0; i < original.size(); ++i) {
        std::printf("%g -> %g\n", original[i], doubled[i]);
        right = right && doubled[i] == 2 * original[i];
    }
    return right;
}

int run() {
    // Initialize: the first device and its context.
    pycuda::init();
    pycuda::Device device(0);
    auto context = pycuda::Context::primary(device);
    pycuda::ScopedContext current(context);

    // Compile for that device.
    auto compiled = pycuda::compile({.source = source,
                                     .device = device.compute_capability(),
                                     .target = pycuda::driver().image_kind()});
    auto module = pycuda::Module::load(std::as_bytes(std::span(compiled.image)));
    auto doublify = module.function("doublify");

    // Allocate, copy in, launch, copy out.
    std::array<float, 16> a{};
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = 0.5f * static_cast<float>(i) - 3;
    auto a_gpu = pycuda::to_device(std::span<const float>(a));
    pycuda::launch(doublify, {.block = {4, 4}}, a_gpu);
    std::array<float, 16> a_doubled{};
    pycuda::copy(std::span<float>(a_doubled), a_gpu);

    // The same with the copies done by InOut.
    std::array<float, 16> in_place = a;
    pycuda::launch(doublify, {.block = {4, 4}}, pycuda::InOut(in_place));

    bool right = show(a, a_doubled) && in_place == a_doubled;
    std::puts(right ? "ok: every element is doubled" : "the kernel did not double the array");
    return right ? 0 : 1;
}

} // namespace

int main() {
    try {
        return run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
