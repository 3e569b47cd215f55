// run_driver.cpp -- runs fuzz_driver on random bytes from a fixed seed. The first argument is the
// number of inputs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

int main(int argc, char **argv) {
    const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200;
    const unsigned first = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0;
    for (unsigned seed = first; seed < first + count; seed++) {
        std::printf("seed %u\n", seed);
        std::fflush(stdout); // the last seed is the one that failed
        std::mt19937 random(seed);
        std::vector<std::uint8_t> bytes(2000 + random() % 4000);
        for (std::uint8_t &byte : bytes)
            byte = static_cast<std::uint8_t>(random());
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    return 0;
}
