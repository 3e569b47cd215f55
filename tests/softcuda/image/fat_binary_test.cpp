// fat_binary_test.cpp -- reads fat binaries of nvcc 13, intact and damaged.
//
// corpus/ptx_*.fatbin contain the same two PTX programs with all compressions; they were made with
//   nvcc -fatbin -compress-mode=... -gencode arch=compute_75,code=compute_75 -gencode ..80..80
#include "image/fat_binary.h"
#include "image/lz4.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace softcuda::image;

namespace {

std::string read(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string sample(const std::string &name) {
    return read(std::filesystem::path(SOFTCUDA_CORPUS) / (name + ".fatbin"));
}

std::vector<FatEntry> entries_of(const std::string &file) {
    return read_fat_binary(std::as_bytes(std::span(file)));
}

TEST(FatBinaryTest, AllCompressionsHaveTheSameContent) {
    const std::string plain = sample("ptx_none");
    const std::vector<FatEntry> wanted = entries_of(plain);
    ASSERT_EQ(wanted.size(), 2U);
    EXPECT_EQ(wanted[0].architecture, 75U);
    EXPECT_EQ(wanted[1].architecture, 80U);
    const std::string text = content_of(wanted[1]);
    EXPECT_NE(text.find(".target sm_80"), std::string::npos);
    EXPECT_EQ(text.find('\0'), std::string::npos);
    const std::pair<const char *, FatEntry::Packing> packed[] = {
        {"ptx_speed", FatEntry::Packing::Lz4}, {"ptx_balance", FatEntry::Packing::Zstd}};
    for (const auto &[name, packing] : packed) {
        const std::string file = sample(name);
        const std::vector<FatEntry> got = entries_of(file);
        ASSERT_EQ(got.size(), 2U) << name;
        for (std::size_t i = 0; i < 2; i++) {
            EXPECT_EQ(got[i].kind, FatEntry::Kind::Ptx);
            EXPECT_EQ(got[i].packing, packing);
            EXPECT_EQ(content_of(got[i]), content_of(wanted[i])) << name;
        }
    }
}

TEST(FatBinaryTest, MachineCodeIsDistinguishedFromPtx) {
    const std::string only = sample("cubin_only"), mixed = sample("mixed");
    ASSERT_EQ(entries_of(only).size(), 1U);
    EXPECT_EQ(entries_of(only)[0].kind, FatEntry::Kind::Cubin);
    const std::vector<FatEntry> both = entries_of(mixed);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_NE(both[0].kind, both[1].kind);
}

TEST(FatBinaryTest, FirstBytesDetermineTheForm) {
    const auto form = [](const std::string &text) {
        return form_of(std::as_bytes(std::span(text)));
    };
    EXPECT_EQ(form(sample("ptx_none")), ImageForm::FatBinary);
    EXPECT_EQ(form("\177ELF..."), ImageForm::Cubin);
    EXPECT_EQ(form("\xb1\x43\x62\x46...."), ImageForm::Wrapper);
    EXPECT_EQ(form(".version 8.0"), ImageForm::Ptx);
    EXPECT_EQ(form(""), ImageForm::Ptx);
}

TEST(FatBinaryTest, AWrapperLeadsToItsFatBinaries) {
    const int first = 1, second = 2;
    const void *const others[] = {&second, nullptr};
    struct {
        std::uint32_t magic = 0x466243B1, version = 1;
        const void *data = nullptr;
        const void *const *others = nullptr;
    } wrapper;
    wrapper.data = &first;
    wrapper.others = others;
    EXPECT_EQ(fat_binaries_of(&wrapper), (std::vector<const void *>{&first}));
    wrapper.version = 2;
    EXPECT_EQ(fat_binaries_of(&wrapper), (std::vector<const void *>{&first, &second}));
}

/// Reads all entries; damage may only cause a FormatError.
void read_all(const std::string &file) {
    try {
        for (const FatEntry &entry : entries_of(file))
            if (entry.size < 1 << 20)
                static_cast<void>(content_of(entry));
    } catch (const FormatError &error) {
        EXPECT_NE(std::string(error.what()).find("fat binary"), std::string::npos);
    }
}

TEST(FatBinaryTest, DamageIsAnErrorAndNothingWorse) {
    for (const auto &entry : std::filesystem::directory_iterator(SOFTCUDA_CORPUS)) {
        const std::string whole = read(entry.path());
        for (std::size_t length = 0; length < whole.size(); length += 7)
            EXPECT_THROW(static_cast<void>(entries_of(whole.substr(0, length))), FormatError)
                << entry.path() << " cut to " << length;
        for (std::size_t at = 0; at < whole.size(); at += 3) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
            read_all(damaged);
        }
    }
}

TEST(Lz4Test, MatchesMayOverlapAndLengthsMayBeLong) {
    const auto unpack = [](const std::string &block, std::size_t bytes) -> std::string {
        std::string text(bytes, '?');
        return unpack_lz4(std::as_bytes(std::span(block)), std::as_writable_bytes(std::span(text)))
                   ? text
                   : "refused";
    };
    EXPECT_EQ(unpack(std::string("\x50hello", 6), 5), "hello");
    // "ab", then a match of length 4 + 4 at distance 2, then "!".
    EXPECT_EQ(unpack(std::string("\x24"
                                 "ab\x02\x00\x10!",
                                 7),
                     11),
              "ababababab!");
    // One literal, then a match of length 15 + 255 + 3 + 4 at distance 1.
    EXPECT_EQ(unpack(std::string("\x1f"
                                 "z\x01\x00\xff\x03\x00",
                                 7),
                     278),
              std::string(278, 'z'));
    EXPECT_EQ(unpack(std::string("\x50hello", 6), 4), "refused");
    EXPECT_EQ(unpack(std::string("\x50hello", 6), 6), "refused");
    EXPECT_EQ(unpack(std::string("\x14"
                                 "a\x02\x00",
                                 4),
                     9),
              "refused")
        << "before the beginning";
    EXPECT_EQ(unpack(std::string("\x14"
                                 "a\x00\x00",
                                 4),
                     9),
              "refused")
        << "offset 0";
    EXPECT_EQ(unpack("", 0), "refused");
}

} // namespace
