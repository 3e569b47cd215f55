// kernel_pack_test.cpp -- precompiled kernels: look-ups, and damaged packs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compile/cache/kernel_pack.h"
#include "compile_fixture.h"

using namespace pycuda;
using namespace pycuda::compile_detail;
namespace fs = std::filesystem;

namespace {

/// What finds an image; `cuda` is 0 for PTX.
struct EntryName {
    Sha256::Digest digest;
    std::uint16_t architecture, cuda;
    auto operator<=>(const EntryName &) const = default;
    [[nodiscard]] KernelPackKey key() const { return {digest, architecture}; }
};
using Entries = std::map<EntryName, std::string>;

constexpr PackagedImages all = {.newest_cuda = 13, .ptx = true};

class KernelPackTest : public CompileTest {
  protected:
    static CompileRequest ptx_request(std::string source) {
        CompileRequest request = request_for(std::move(source));
        request.target = ImageKind::Ptx;
        return request;
    }

    /// As for a kernel of the library on a GPU.
    static CompileRequest gpu_request(std::string source, int capability = 86) {
        CompileRequest request = request_for(std::move(source));
        request.device = ComputeCapability{capability / 10, capability % 10};
        request.packaged = all;
        return request;
    }

    /// The format that tools/kernel_pack/make_pack.py writes.
    static std::string pack_of(const Entries &entries) {
        std::string rows, texts;
        auto put = [&rows](const auto &value) {
            rows.append(reinterpret_cast<const char *>(&value), sizeof value);
        };
        for (const auto &[name, entry] : entries) {
            put(name.digest);
            put(sha256(entry));
            put(std::uint64_t{24 + 80 * entries.size() + texts.size()});
            put(static_cast<std::uint32_t>(entry.size()));
            put(name.architecture);
            put(name.cuda);
            texts += entry;
        }
        const std::uint64_t count = entries.size();
        std::string pack = "PyCUDA kernels 3";
        pack.append(reinterpret_cast<const char *>(&count), sizeof count);
        return pack + rows + texts;
    }

    std::optional<CompileResult> find(const std::string &pack, const KernelPackKey &key,
                                      const PackagedImages &images = all) const {
        const auto found = KernelPack(write("kernels.pack", pack)).find(key, images);
        return found ? std::optional(found->result) : std::nullopt;
    }

    static std::string content_of(const fs::path &path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Whether all entries of a damaged pack are missing or unchanged.
    bool gives_nothing_wrong(const std::string &damaged, const Entries &entries) const {
        const KernelPack pack(write("kernels.pack", damaged));
        return std::ranges::all_of(entries, [&](const auto &known) {
            const auto found = pack.find(known.first.key(), all);
            return !found || std::ranges::any_of(entries, [&](const auto &entry) {
                return entry.first.digest == known.first.digest &&
                       entry.second == found->result.image;
            });
        });
    }
};

const Entries &entries() {
    static const Entries texts = {{{sha256("a"), 86, 0}, "first"},
                                  {{sha256("b"), 75, 0}, "second"},
                                  {{sha256("b"), 80, 12}, "second of another architecture"},
                                  {{sha256("b"), 90, 0}, "second of a third architecture"},
                                  {{sha256("b"), 90, 13}, "its machine code"},
                                  {{sha256("c"), 75, 0}, "third, which is longer"}};
    return texts;
}

} // namespace

TEST_F(KernelPackTest, FindsEachEntry) {
    const std::string pack = pack_of(entries());
    for (const auto &[name, entry] : entries()) {
        const PackagedImages images = {.newest_cuda = name.cuda, .ptx = name.cuda == 0};
        const std::optional<CompileResult> found = find(pack, name.key(), images);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->arch,
                  (name.cuda ? "sm_" : "compute_") + std::to_string(name.architecture));
        EXPECT_EQ(found->image, entry);
        EXPECT_EQ(found->kind, name.cuda ? ImageKind::Cubin : ImageKind::Ptx);
        EXPECT_EQ(found->origin, ImageOrigin::Package);
    }
    const KernelPackKey known = {sha256("a"), 86};
    EXPECT_FALSE(find(pack, {sha256("d"), 86}));
    EXPECT_FALSE(find(pack_of({}), known));
    EXPECT_FALSE(KernelPack((folder() / "nothing").string()).find(known, all));
    EXPECT_FALSE(KernelPack(folder().string()).find(known, all));
}

TEST_F(KernelPackTest, FindsMachineCodeOfTheDevicesGenerationOrElseOlderPtx) {
    const std::string pack = pack_of(entries());
    auto found_for = [&](unsigned newest, int cuda = 13, bool ptx = true) {
        const std::optional<CompileResult> found =
            find(pack, {sha256("b"), newest}, {.newest_cuda = cuda, .ptx = ptx});
        return found ? found->arch : "nothing";
    };
    EXPECT_EQ(found_for(70), "nothing");
    EXPECT_EQ(found_for(75), "compute_75");
    EXPECT_EQ(found_for(75, 13, false), "nothing");
    EXPECT_EQ(found_for(80), "sm_80");
    EXPECT_EQ(found_for(89), "sm_80");
    EXPECT_EQ(found_for(89, 12, false), "sm_80");
    EXPECT_EQ(found_for(89, 11), "compute_75");
    EXPECT_EQ(found_for(90), "sm_90");
    EXPECT_EQ(found_for(90, 14), "sm_90");
    EXPECT_EQ(found_for(90, 12), "compute_90");
    EXPECT_EQ(found_for(90, 12, false), "nothing");
    EXPECT_EQ(found_for(100), "compute_90");
    EXPECT_EQ(found_for(120), "compute_90");
}

TEST_F(KernelPackTest, TruncatedPackHasNoWrongResult) {
    const std::string pack = pack_of(entries());
    for (std::size_t size = 0; size < pack.size(); ++size)
        EXPECT_TRUE(gives_nothing_wrong(pack.substr(0, size), entries())) << size;
}

TEST_F(KernelPackTest, DamagedPackHasNoWrongResult) {
    const std::string pack = pack_of(entries());
    for (std::size_t at = 0; at < pack.size(); ++at) {
        std::string damaged = pack;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
        EXPECT_TRUE(gives_nothing_wrong(damaged, entries())) << at;
    }
}

TEST_F(KernelPackTest, KeyContainsAllInputs) {
    const CompileRequest request = ptx_request(doublify);
    auto differs = [&](auto change) {
        CompileRequest other = request;
        change(other);
        const auto key = kernel_pack_key(other, "");
        return key && key != kernel_pack_key(request, "");
    };
    EXPECT_TRUE(differs([](CompileRequest &r) { r.source += ' '; }));
    EXPECT_TRUE(differs([](CompileRequest &r) { r.name = "other.cu"; }));
    EXPECT_TRUE(differs([](CompileRequest &r) { r.options = {"--fmad=false"}; }));
    EXPECT_TRUE(differs([](CompileRequest &r) { r.arch = "compute_75"; }));
    EXPECT_TRUE(differs([](CompileRequest &r) { r.device = ComputeCapability{7, 5}; }));
    EXPECT_TRUE(differs([](CompileRequest &r) { r.linkage = Linkage::Cxx; }));
    EXPECT_TRUE(differs([](CompileRequest &r) { r.builtins = Builtins::Minimal; }));
    // Without an include, the folders of headers do not matter.
    EXPECT_FALSE(differs([](CompileRequest &r) { r.options = {"-I/usr/include"}; }));
    EXPECT_FALSE(differs([](CompileRequest &r) { r.include_dirs = {"/usr/include"}; }));
}

TEST_F(KernelPackTest, GpuOfAnyArchitectureHasOneKey) {
    const auto key = kernel_pack_key(gpu_request(doublify, 80), "");
    const auto newer = kernel_pack_key(gpu_request(doublify, 120), "");
    ASSERT_TRUE(key && newer);
    EXPECT_EQ(key->digest, newer->digest);
    EXPECT_EQ(key->newest, 80u);
    EXPECT_EQ(newer->newest, 120u);
    CompileRequest ptx = ptx_request(doublify);
    ptx.device = ComputeCapability{8, 0};
    EXPECT_NE(key->digest, kernel_pack_key(ptx, "")->digest);
    auto has_key = [](auto change) {
        CompileRequest request = gpu_request(doublify);
        change(request);
        return kernel_pack_key(request, "").has_value();
    };
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.packaged = {}; }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.device.reset(); }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.arch = "sm_80"; }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.code = "sm_80"; }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.target = ImageKind::LtoIr; }));
}

TEST_F(KernelPackTest, NoKeyForSourcesWithOtherInputs) {
    auto has_key = [](auto change) {
        CompileRequest request = ptx_request(doublify);
        change(request);
        return kernel_pack_key(request, "").has_value();
    };
    EXPECT_TRUE(has_key([](CompileRequest &) {}));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.source = "#include \"a.h\"\n" + r.source; }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.options = {"--pre-include=a.h"}; }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.target = ImageKind::Cubin; }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.compiler = CompilerChoice::Nvrtc; }));
    EXPECT_FALSE(has_key([](CompileRequest &r) { r.name_expressions = {"scale<float>"}; }));
}

TEST_F(KernelPackTest, KeyContainsOwnHeadersToo) {
    write("own/inner.hpp", "constexpr int one = 1;");
    write("own/outer.hpp", "#include <inner.hpp>\n");
    const std::string own = folder() / "own";
    const CompileRequest request = ptx_request("#include <outer.hpp>\n" + std::string(doublify));
    const auto before = kernel_pack_key(request, own);
    ASSERT_TRUE(before);
    EXPECT_EQ(before, kernel_pack_key(request, own));
    EXPECT_FALSE(kernel_pack_key(request, folder() / "elsewhere"));
    EXPECT_FALSE(kernel_pack_key(ptx_request("#include \"outer.hpp\"\n"), own));
    write("own/inner.hpp", "constexpr int one = 2;");
    const auto after = kernel_pack_key(request, own);
    EXPECT_TRUE(after && after != before);
    // A user's header with that name is found first.
    CompileRequest other = request;
    other.options = {"-I" + (folder() / "user").string()};
    EXPECT_EQ(kernel_pack_key(other, own), after);
    write("user/outer.hpp", "");
    EXPECT_FALSE(kernel_pack_key(other, own));
    write("own/outer.hpp", "#include <cuda_fp16.h>\n");
    EXPECT_FALSE(kernel_pack_key(request, own));
}

TEST_F(KernelPackTest, RecordsCompiledKernels) {
    const ScopedVariable recording("PYCUDA_RECORD_KERNELS", folder().c_str());
    const CompileRequest request = ptx_request(doublify);
    const CompileResult compiled = compile(request);
    const KernelPackKey key = *kernel_pack_key(request, "");
    const std::string architecture = compiled.arch.substr(sizeof "compute_" - 1);
    EXPECT_EQ(content_of(folder() / (to_hex(key.digest) + "-" + architecture + "-0")),
              compiled.image);
}

TEST_F(KernelPackTest, RecordsMachineCodeAndItsPtx) {
    const ScopedVariable recording("PYCUDA_RECORD_KERNELS", folder().c_str());
    const CompileRequest request = gpu_request(doublify);
    const CompileResult compiled = compile(request);
    EXPECT_EQ(compiled.kind, ImageKind::Ptx);
    const std::string stem = to_hex(kernel_pack_key(request, "")->digest) + "-86-";
    EXPECT_EQ(content_of(folder() / (stem + "0")), compiled.image);
    EXPECT_TRUE(compiled.image.find(".target sm_86") != std::string::npos);
    std::vector<std::string> machine_code;
    for (const fs::directory_entry &file : fs::directory_iterator(folder()))
        if (const std::string name = file.path().filename();
            name.starts_with(stem) && name != stem + "0")
            machine_code.push_back(content_of(file.path()));
    ASSERT_EQ(machine_code.size(), 1u);
    EXPECT_TRUE(machine_code[0].starts_with("\177ELF"));
}

TEST_F(KernelPackTest, RefusedImagesAreFollowedByACompilers) {
    CompileRequest request = gpu_request(doublify);
    CompileResult refused;
    refused.image = "refused";
    refused.origin = ImageOrigin::Package;
    CompileResult compiled = refused;
    std::vector<std::string> tried;
    load_compiled(request, compiled, [&](const CompileResult &image) {
        tried.push_back(image.image);
        if (image.origin == ImageOrigin::Package)
            throw Error("cuModuleLoadDataEx", CUDA_ERROR_NO_BINARY_FOR_GPU);
    });
    ASSERT_EQ(tried.size(), 2u);
    EXPECT_EQ(tried[0], "refused");
    EXPECT_EQ(tried[1], compiled.image);
    EXPECT_EQ(compiled.arch, "sm_86");
    EXPECT_NE(compiled.origin, ImageOrigin::Package);
    auto refuse_all = [](const CompileResult &) {
        throw Error("cuModuleLoadDataEx", CUDA_ERROR_NO_BINARY_FOR_GPU);
    };
    EXPECT_THROW(load_compiled(request, compiled, refuse_all), Error);
    // PTX of the package may replace its machine code, and not PTX that was refused.
    EXPECT_EQ(compile_refused(request, refused, "reason").arch, "sm_86");
    EXPECT_TRUE(request.packaged.newest_cuda == 0 && request.packaged.ptx);
    refused.kind = ImageKind::Ptx;
    EXPECT_EQ(compile_refused(request, refused, "reason").arch, "sm_86");
    EXPECT_FALSE(request.packaged.ptx);
}
