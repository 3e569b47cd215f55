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

class KernelPackTest : public CompileTest {
  protected:
    static CompileRequest ptx_request(std::string source) {
        CompileRequest request = request_for(std::move(source));
        request.target = ImageKind::Ptx;
        return request;
    }

    /// The format that tools/kernel_pack/make_pack.py writes.
    static std::string pack_of(const std::map<Sha256::Digest, std::string> &entries) {
        std::string rows, texts;
        auto put = [&rows](const auto &value) {
            rows.append(reinterpret_cast<const char *>(&value), sizeof value);
        };
        for (const auto &[key, entry] : entries) {
            put(key);
            put(sha256(entry));
            put(std::uint64_t{24 + 80 * entries.size() + texts.size()});
            put(std::uint64_t{entry.size()});
            texts += entry;
        }
        const std::uint64_t count = entries.size();
        std::string pack = "PyCUDA kernels 1";
        pack.append(reinterpret_cast<const char *>(&count), sizeof count);
        return pack + rows + texts;
    }

    std::optional<CompileResult> find(const std::string &pack, const Sha256::Digest &key) const {
        return KernelPack(write("kernels.pack", pack)).find(key);
    }

    /// Whether all entries of a damaged pack are missing or unchanged.
    bool gives_nothing_wrong(const std::string &damaged,
                             const std::map<Sha256::Digest, std::string> &entries) const {
        const KernelPack pack(write("kernels.pack", damaged));
        return std::ranges::all_of(entries, [&pack](const auto &known) {
            const std::optional<CompileResult> found = pack.find(known.first);
            return !found || found->arch + '\n' + found->image == known.second;
        });
    }
};

const std::map<Sha256::Digest, std::string> &entries() {
    static const std::map<Sha256::Digest, std::string> texts = {
        {sha256("a"), "compute_86\nfirst"},
        {sha256("b"), "compute_86\nsecond"},
        {sha256("c"), "compute_75\nthird, which is longer"}};
    return texts;
}

} // namespace

TEST_F(KernelPackTest, FindsEachEntry) {
    const std::string pack = pack_of(entries());
    for (const auto &[key, entry] : entries()) {
        const std::optional<CompileResult> found = find(pack, key);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->arch + '\n' + found->image, entry);
        EXPECT_EQ(found->kind, ImageKind::Ptx);
        EXPECT_EQ(found->origin, ImageOrigin::Package);
    }
    EXPECT_FALSE(find(pack, sha256("d")));
    EXPECT_FALSE(find(pack_of({}), sha256("a")));
    EXPECT_FALSE(KernelPack((folder() / "nothing").string()).find(sha256("a")));
    EXPECT_FALSE(KernelPack(folder().string()).find(sha256("a")));
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
    const Sha256::Digest key = *kernel_pack_key(request, "");
    std::ifstream file(folder() / to_hex(key), std::ios::binary);
    const std::string entry(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(entry, compiled.arch + '\n' + compiled.image);
    const std::optional<CompileResult> found = find(pack_of({{key, entry}}), key);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->image, compiled.image);
}
