// calculate_pi.cpp -- pi as an integral: mapped and summed on the device, in C++.
#include <pycuda/pycuda.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr int problem_size = 1'000'000;

constexpr const char *source = R"(
__global__ void mapper(float *dest)
{
  const int id = threadIdx.x + blockDim.x*blockIdx.x;
  const double x = 1.0 * id / PROBLEM_SIZE;   // x goes from 0.0 to 1.0 in PROBLEM_SIZE steps
  if (id < PROBLEM_SIZE)
    dest[id] = 4.0 / (1.0 + x*x);
}

__global__ void reducer(float *dest, int i)
{
  const int id = threadIdx.x + blockDim.x*blockIdx.x;
  if (id % (2*i) == 0  &&  id + i < PROBLEM_SIZE) {
    dest[id] += dest[id + i];
  }
}
)";

bool is_pi(const char *name, double sum) {
    double value = sum / problem_size; // times the width of a bin
    std::printf("%-20s %.7f\n", name, value);
    return std::abs(value - std::numbers::pi) < 1e-5;
}

int run() {
    pycuda::init();
    pycuda::Device device(0);
    auto context = pycuda::Context::primary(device);
    pycuda::ScopedContext current(context);

    auto compiled = pycuda::compile({.source = source,
                                     .options = {"-DPROBLEM_SIZE=" + std::to_string(problem_size)},
                                     .device = device.compute_capability(),
                                     .target = pycuda::driver().image_kind()});
    auto module = pycuda::Module::load(std::as_bytes(std::span(compiled.image)));
    auto mapper = module.function("mapper");
    auto reducer = module.function("reducer");
    pycuda::LaunchConfig config{.grid = {(problem_size + 511) / 512}, .block = {512}};

    // Sum on the host.
    std::vector<float> dest(problem_size);
    pycuda::launch(mapper, config, pycuda::Out(dest));
    bool right = is_pi("sum on the host", std::accumulate(dest.begin(), dest.end(), 0.0));

    // All on the device: 20 steps add neighbours.
    pycuda::DeviceMemory dest_gpu(dest.size() * sizeof(float));
    pycuda::launch(mapper, config, dest_gpu);
    for (int i = 1; i < problem_size; i *= 2)
        pycuda::launch(reducer, config, dest_gpu, i);
    float sum = 0;
    pycuda::copy(std::span<float>(&sum, 1), dest_gpu);
    right = is_pi("all on the device", sum) && right;

    std::puts(right ? "ok: pi in two ways" : "the sums are wrong");
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
