// sha256.cpp -- SHA-256 as specified in FIPS 180-4.
#include "compile/source/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pycuda::compile_detail {
namespace {

// The fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const unsigned char *bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

void store_big_endian(unsigned char *bytes, std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i)
        bytes[i] = static_cast<unsigned char>(value >> (8 * (count - 1 - i)));
}

} // namespace

void Sha256::compress(const unsigned char *block) {
    std::array<std::uint32_t, 64> schedule;
    for (int i = 0; i < 16; ++i)
        schedule[i] = load_big_endian(block + 4 * i);
    for (int i = 16; i < 64; ++i) {
        std::uint32_t a = schedule[i - 15], b = schedule[i - 2];
        std::uint32_t s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
        std::uint32_t s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
        schedule[i] = schedule[i - 16] + s0 + schedule[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 64; ++i) {
        std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + schedule[i];
        std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i)
        state_[i] += add[i];
}

void Sha256::update(std::string_view bytes) {
    total_size_ += bytes.size();
    while (!bytes.empty()) {
        if (pending_size_ == 0 && bytes.size() >= 64) {
            compress(reinterpret_cast<const unsigned char *>(bytes.data()));
            bytes.remove_prefix(64);
            continue;
        }
        std::size_t take = std::min(bytes.size(), 64 - pending_size_);
        std::memcpy(pending_.data() + pending_size_, bytes.data(), take);
        pending_size_ += take;
        bytes.remove_prefix(take);
        if (pending_size_ == 64) {
            compress(pending_.data());
            pending_size_ = 0;
        }
    }
}

Sha256::Digest Sha256::finish() {
    // The message ends with a 1 bit, zeros, and its length in bits.
    const std::uint64_t bits = total_size_ * 8;
    unsigned char padding[72] = {0x80};
    std::size_t zeros_end = (pending_size_ < 56 ? 56 : 120) - pending_size_;
    store_big_endian(padding + zeros_end, bits, 8);
    update({reinterpret_cast<const char *>(padding), zeros_end + 8});

    Digest digest;
    for (int i = 0; i < 8; ++i)
        store_big_endian(digest.data() + 4 * i, state_[i], 4);
    return digest;
}

Sha256::Digest sha256(std::string_view bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.finish();
}

std::string to_hex(const Sha256::Digest &digest) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (unsigned char byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

} // namespace pycuda::compile_detail
