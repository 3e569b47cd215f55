// lanes_test.cpp -- reads of a whole warp give the bits of reads lane by lane.
//
// Random textures of all formats, channels, filters, modes and dimensions, and coordinates inside,
// far outside, and not a number.
#include "rt/texture_lanes.h"
#include "rt/texture_sample.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace softcuda;
using namespace softcuda::rt;

namespace {

constexpr unsigned kLanes = 32;
using Operand = std::array<std::uint32_t, kLanes>;

struct Random {
    std::mt19937 bits{7};

    unsigned below(unsigned n) { return static_cast<unsigned>(bits() % n); }
    float coordinate(float extent) {
        constexpr float kSpecial[] = {0.0F,     -0.0F,     1.0F,    -1.0F,      0.5F,  1e-10F,
                                      -1e-9F,   3000.0F,   -900.5F, 1e6F,       -1e6F, 2.0F,
                                      INFINITY, -INFINITY, NAN,     0.99999994F};
        if (below(6) == 0)
            return kSpecial[below(std::size(kSpecial))];
        return std::uniform_real_distribution<float>(-1.5F * extent, 2.5F * extent)(bits);
    }
};

Texture make_texture(Random &random, std::vector<std::byte> &memory, unsigned dimensions) {
    Texture texture;
    texture.type = static_cast<TexelType>(random.below(8));
    constexpr unsigned kChannels[] = {1, 2, 4};
    texture.channels = kChannels[random.below(3)];
    texture.dimensions = dimensions;
    texture.normalized = random.below(2) != 0;
    texture.linear_filter = random.below(2) != 0;
    const bool is_integer = texture.type != TexelType::F16 && texture.type != TexelType::F32;
    texture.as_integer = is_integer && random.below(3) == 0;
    for (AddressMode &mode : texture.address)
        mode = static_cast<AddressMode>(random.below(4));
    for (float &channel : texture.border)
        channel = std::uniform_real_distribution<float>(-1, 2)(random.bits);
    Image &image = texture.levels[0];
    for (unsigned axis = 0; axis < dimensions; axis++)
        image.extent[axis] = 1 + random.below(random.below(3) == 0 ? 2 : 9);
    image.pitch = std::uint64_t{image.extent[0]} * texture.texel_bytes() + 16;
    image.slice = image.pitch * image.extent[1];
    memory.resize(image.slice * image.extent[2]);
    for (std::byte &byte : memory)
        byte = static_cast<std::byte>(random.below(256));
    if (texture.type == TexelType::F32 && random.below(2) != 0)
        for (std::size_t at = 0; at + 4 <= memory.size(); at += 4) {
            const float value = std::uniform_real_distribution<float>(-10, 10)(random.bits);
            std::memcpy(&memory[at], &value, sizeof value);
        }
    image.address = reinterpret_cast<std::uint64_t>(memory.data());
    return texture;
}

bool is_nan(std::uint32_t bits) { return (bits & 0x7fffffffU) > 0x7f800000U; }

/// The number of lanes that differ; -1: the warp is read lane by lane.
int compare(Random &random) {
    const unsigned dimensions = 1 + random.below(3);
    std::vector<std::byte> memory;
    const Texture texture = make_texture(random, memory, dimensions);
    TextureOperation operation;
    operation.geometry = static_cast<TextureOperation::Geometry>(dimensions - 1);
    operation.float_coordinates = random.below(4) != 0;
    std::array<Operand, 3> coordinates;
    for (unsigned axis = 0; axis < 3; axis++)
        for (std::uint32_t &bits : coordinates[axis]) {
            const auto extent = static_cast<float>(texture.levels[0].extent[axis]);
            const float value = random.coordinate(texture.normalized ? 1 : extent);
            if (operation.float_coordinates)
                std::memcpy(&bits, &value, sizeof bits);
            else
                bits = random.below(12) - 2;
        }
    std::array<Operand, 4> results{};
    const std::array<const void *, 3> operands = {&coordinates[0], &coordinates[1],
                                                  &coordinates[2]};
    const std::array<void *, 4> places = {&results[0], &results[1], &results[2], &results[3]};
    const std::uint32_t mask =
        random.below(3) == 0 ? static_cast<std::uint32_t>(random.bits()) : ~0U;
    if (!fetch_lanes(texture, operation, {mask, operands.data(), places.data()}))
        return -1;
    int wrong = 0;
    for (unsigned lane = 0; lane < kLanes; lane++) {
        SamplePoint point;
        point.is_index = !operation.float_coordinates;
        for (unsigned axis = 0; axis < dimensions; axis++) {
            if (point.is_index)
                point.index[axis] = static_cast<std::int32_t>(coordinates[axis][lane]);
            else
                std::memcpy(&point.coordinate[axis], &coordinates[axis][lane], sizeof(float));
        }
        Texel wanted;
        if ((mask >> lane & 1) != 0)
            wanted = sample(texture, operation, point);
        bool differs = false;
        for (unsigned c = 0; c < 4; c++)
            differs |= results[c][lane] != wanted.bits[c] &&
                       !(is_nan(results[c][lane]) && is_nan(wanted.bits[c]));
        if (!differs)
            continue;
        if (wrong++ == 0)
            std::printf(
                "type %d, %u channels, %u dimensions, %s%s, modes %d %d %d, lane %u at "
                "%g %g %g: %08x %08x, expected %08x %08x\n",
                static_cast<int>(texture.type), texture.channels, dimensions,
                texture.linear_filter ? "linear" : "nearest",
                texture.normalized ? ", normalized" : "", static_cast<int>(texture.address[0]),
                static_cast<int>(texture.address[1]), static_cast<int>(texture.address[2]), lane,
                static_cast<double>(point.coordinate[0]), static_cast<double>(point.coordinate[1]),
                static_cast<double>(point.coordinate[2]), results[0][lane], results[1][lane],
                wanted.bits[0], wanted.bits[1]);
    }
    return wrong;
}

} // namespace

int main() {
    constexpr int kTextures = 20000;
    Random random;
    int together = 0, wrong = 0;
    for (int n = 0; n < kTextures; n++) {
        const int differ = compare(random);
        together += differ >= 0 ? 1 : 0;
        wrong += differ > 0 ? 1 : 0;
    }
    std::printf("%d textures, %d read by a warp at once, %d wrong\n", kTextures, together, wrong);
    return wrong == 0 && together > kTextures / 4 ? 0 : 1;
}
