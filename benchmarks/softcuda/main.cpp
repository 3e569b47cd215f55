// main.cpp -- kernels on the software device beside hand-written SIMD code, in one run.
//
//     build/release/benchmarks/softcuda/softcuda_benchmark [saxpy|pi|reduction|matmul|mandelbrot
//     ...]
//
// Each row: median times of both and their ratio (1 = as fast as hand-written). Every result is
// compared with the other's before it is timed.
#include "hand_written.h"
#include "kernels.h"

#include <pycuda/pycuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(const std::function<void()> &work) {
    auto start = Clock::now();
    work();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Row {
    std::string name, size;
    double hand, softcuda;
};

// Both in turn, so that a change of the machine's speed hits both.
Row compare(std::string name, std::string size, const std::function<void()> &hand,
            const std::function<void()> &softcuda) {
    constexpr int kRounds = 21;
    std::vector<double> a, b;
    hand();
    softcuda();
    for (int round = 0; round < kRounds; ++round) {
        a.push_back(milliseconds(hand));
        b.push_back(milliseconds(softcuda));
    }
    std::ranges::sort(a);
    std::ranges::sort(b);
    return {std::move(name), std::move(size), a[kRounds / 2], b[kRounds / 2]};
}

template <class T>
void expect_close(const char *what, const std::vector<T> &seen, const std::vector<T> &wanted,
                  double tolerance) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (!(std::abs(static_cast<double>(seen[i]) - static_cast<double>(wanted[i])) <=
              tolerance * (1 + std::abs(static_cast<double>(wanted[i]))))) {
            std::fprintf(stderr, "%s: element %zu is %g, expected %g\n", what, i,
                         static_cast<double>(seen[i]), static_cast<double>(wanted[i]));
            std::exit(1);
        }
}

std::vector<float> numbers(std::size_t n) {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i)
        values[i] = static_cast<float>((i * 7919) % 1000) * 0.001f - 0.5f;
    return values;
}

class Bench {
  public:
    Bench() : context_(pycuda::Context::primary(device_)), current_(context_), module_(load()) {}

    Row saxpy() {
        constexpr int n = 16 << 20;
        std::vector<float> x = numbers(n), y(n, 1.0f), back(n);
        auto x_gpu = upload(x), y_gpu = upload(y);
        auto kernel = module_.function("saxpy");
        pycuda::LaunchConfig config{.grid = {n / 256}, .block = {256}};
        auto run = [&] {
            pycuda::launch(kernel, config, 2.0f, x_gpu, y_gpu, n);
            finish();
        };
        auto hand = [&] { hand_written::saxpy(2.0f, x.data(), y.data(), n); };
        run();
        hand();
        pycuda::copy(std::span(back), y_gpu);
        expect_close("saxpy", back, y, 1e-6);
        return compare("saxpy", "16 Mi", hand, run);
    }

    Row pi() {
        constexpr int n = 1 << 20;
        std::vector<float> wanted(n), back(n);
        pycuda::DeviceMemory dest(n * sizeof(float));
        auto kernel = module_.function("pi_mapper");
        pycuda::LaunchConfig config{.grid = {n / 512}, .block = {512}};
        auto run = [&] {
            pycuda::launch(kernel, config, dest, n);
            finish();
        };
        auto hand = [&] { hand_written::pi_mapper(wanted.data(), n); };
        run();
        hand();
        pycuda::copy(std::span(back), dest);
        expect_close("pi mapper", back, wanted, 1e-6);
        return compare("pi mapper (double)", "1 Mi", hand, run);
    }

    Row reduction() {
        constexpr std::size_t n = 16 << 20, piece = 2048;
        std::vector<float> x = numbers(n), wanted(n / piece), back(n / piece);
        auto x_gpu = upload(x);
        pycuda::DeviceMemory sums(back.size() * sizeof(float));
        auto kernel = module_.function("tree_reduce");
        pycuda::LaunchConfig config{.grid = {n / piece}, .block = {256}};
        auto run = [&] {
            pycuda::launch(kernel, config, x_gpu, sums);
            finish();
        };
        auto hand = [&] { hand_written::block_sums(x.data(), wanted.data(), n, piece); };
        run();
        hand();
        pycuda::copy(std::span(back), sums);
        expect_close("tree reduction", back, wanted, 1e-4);
        return compare("tree reduction, shared memory", "16 Mi", hand, run);
    }

    Row matmul() {
        constexpr int n = 1024;
        std::vector<float> a = numbers(n * n), b = numbers(n * n), wanted(n * n), back(n * n);
        auto a_gpu = upload(a), b_gpu = upload(b);
        pycuda::DeviceMemory c_gpu(n * n * sizeof(float));
        auto kernel = module_.function("matmul");
        pycuda::LaunchConfig config{.grid = {n / 16, n / 16}, .block = {16, 16}};
        auto run = [&] {
            pycuda::launch(kernel, config, a_gpu, b_gpu, c_gpu, n);
            finish();
        };
        auto hand = [&] { hand_written::matmul(a.data(), b.data(), wanted.data(), n); };
        run();
        hand();
        pycuda::copy(std::span(back), c_gpu);
        expect_close("matmul", back, wanted, 1e-3);
        return compare("matmul, 16x16 tiles", "1024^2", hand, run);
    }

    Row mandelbrot() {
        constexpr int n = 2048, limit = 256;
        std::vector<int> wanted(n * n), back(n * n);
        pycuda::DeviceMemory counts(n * n * sizeof(int));
        auto kernel = module_.function("mandelbrot");
        pycuda::LaunchConfig config{.grid = {n / 32, n / 8}, .block = {32, 8}};
        auto run = [&] {
            pycuda::launch(kernel, config, counts, n, n, limit);
            finish();
        };
        auto hand = [&] { hand_written::mandelbrot(wanted.data(), n, n, limit); };
        run();
        hand();
        pycuda::copy(std::span(back), counts);
        std::size_t differ = 0; // points at the edge may escape a step sooner or later
        for (std::size_t i = 0; i < back.size(); ++i)
            differ += back[i] != wanted[i];
        if (differ > back.size() / 100) {
            std::fprintf(stderr, "mandelbrot: %zu of %zu points differ\n", differ, back.size());
            std::exit(1);
        }
        return compare("Mandelbrot, 256 iterations", "2048^2", hand, run);
    }

  private:
    template <class T> pycuda::DeviceMemory upload(const std::vector<T> &values) {
        pycuda::DeviceMemory memory(values.size() * sizeof(T));
        pycuda::copy(memory, std::span(values));
        return memory;
    }

    void finish() { context_.synchronize(); }

    pycuda::Module load() {
        auto compiled = pycuda::compile({.source = kKernels,
                                         .device = device_.compute_capability(),
                                         .target = pycuda::driver().image_kind()});
        return pycuda::Module::load(std::as_bytes(std::span(compiled.image)));
    }

    pycuda::Device device_{(pycuda::init(), 0)};
    pycuda::Context context_;
    pycuda::ScopedContext current_;
    pycuda::Module module_;
};

void print(const std::vector<Row> &rows) {
    std::printf("%-32s %10s %12s %12s %8s\n", "kernel", "size", "hand, ms", "softcuda, ms",
                "ratio");
    double logs = 0;
    for (const Row &row : rows) {
        std::printf("%-32s %10s %12.3f %12.3f %8.2f\n", row.name.c_str(), row.size.c_str(),
                    row.hand, row.softcuda, row.hand / row.softcuda);
        logs += std::log(row.hand / row.softcuda);
    }
    std::printf("%-32s %10s %12s %12s %8.2f\n", "geometric mean", "", "", "",
                std::exp(logs / static_cast<double>(rows.size())));
}

// OpenMP's threads spin after each loop by default, on the cores that the other side needs. Its
// runtime reads its settings before main(), so the program starts itself anew with them.
void let_openmp_sleep(char **argv) {
    if (std::getenv("OMP_WAIT_POLICY"))
        return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
}

} // namespace

int main(int argc, char **argv) {
    let_openmp_sleep(argv);
    try {
        Bench bench;
        std::vector<Row> rows;
        auto wanted = [&](const char *name) {
            return argc == 1 || std::any_of(argv + 1, argv + argc,
                                            [&](char *a) { return !std::strcmp(a, name); });
        };
        if (wanted("saxpy"))
            rows.push_back(bench.saxpy());
        if (wanted("pi"))
            rows.push_back(bench.pi());
        if (wanted("reduction"))
            rows.push_back(bench.reduction());
        if (wanted("matmul"))
            rows.push_back(bench.matmul());
        if (wanted("mandelbrot"))
            rows.push_back(bench.mandelbrot());
        print(rows);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
