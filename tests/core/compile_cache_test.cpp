// compile_cache_test.cpp -- the caches of compiled images: hits, misses, damage, many processes.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile/cache/disk_cache.h"
#include "compile_fixture.h"

using namespace pycuda;
using namespace pycuda::compile_detail;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class CompileCacheTest : public CompileTest {
  protected:
    /// Compiles with an empty cache in memory, as in a new process.
    static ImageOrigin origin_in_new_process(const CompileRequest &request) {
        clear_memory_cache();
        return compile(request).origin;
    }

    std::vector<fs::path> images() const {
        std::vector<fs::path> paths;
        for (const auto &entry : fs::recursive_directory_iterator(cache_folder()))
            if (entry.path().extension() == ".image")
                paths.push_back(entry.path());
        return paths;
    }

    /// Runs `body` in a child process and returns its exit status.
    template <class Body> static int in_child(Body body) {
        pid_t child = ::fork();
        if (child == 0)
            ::_exit(body());
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    }

    static void age(const fs::path &path, std::chrono::hours hours) {
        fs::last_write_time(path, fs::file_time_type::clock::now() - hours);
    }
};

CacheEntry entry_of(std::size_t size) {
    CacheEntry entry;
    entry.result.image = std::string(size, 'x');
    return entry;
}

} // namespace

TEST_F(CompileCacheTest, MemoryThenDisk) {
    const CompileRequest request = request_for(doublify);
    CompileResult first = compile(request);
    EXPECT_EQ(first.origin, ImageOrigin::Compiler);
    CompileResult second = compile(request);
    EXPECT_EQ(second.origin, ImageOrigin::MemoryCache);
    EXPECT_EQ(second.image, first.image);
    clear_memory_cache();
    CompileResult third = compile(request);
    EXPECT_EQ(third.origin, ImageOrigin::DiskCache);
    EXPECT_EQ(third.image, first.image);
    EXPECT_EQ(third.arch, first.arch);
    EXPECT_EQ(third.kind, first.kind);
    EXPECT_EQ(third.command_line, first.command_line);
}

TEST_F(CompileCacheTest, EverythingThatMattersIsInTheKey) {
    const CompileRequest base = request_for(doublify);
    (void)compile(base);
    std::vector<CompileRequest> others(6, base);
    others[0].source += " ";
    others[1].options = {"-lineinfo"};
    others[2].device = ComputeCapability{8, 0};
    others[3].target = ImageKind::Ptx;
    others[4].linkage = Linkage::Cxx;
    others[5].name = "other.cu";
    for (std::size_t i = 0; i < others.size(); ++i)
        EXPECT_EQ(compile(others[i]).origin, ImageOrigin::Compiler) << i;
}

TEST_F(CompileCacheTest, CanBeTurnedOff) {
    CompileRequest request = request_for(doublify);
    request.cache = CacheUse::Off;
    (void)compile(request);
    EXPECT_EQ(compile(request).origin, ImageOrigin::Compiler);
    EXPECT_FALSE(fs::exists(cache_folder()));
    request.cache = CacheUse::Default;
    (void)compile(request);
    ScopedVariable disabled("PYCUDA_DISABLE_CACHE", "");
    EXPECT_EQ(compile(request).origin, ImageOrigin::Compiler);
}

TEST_F(CompileCacheTest, FolderOfTheRequestIsCreated) {
    CompileRequest request = request_for(doublify);
    request.cache_dir = folder() / "deep" / "er";
    (void)compile(request);
    EXPECT_TRUE(fs::exists(request.cache_dir));
    EXPECT_FALSE(fs::exists(cache_folder()));
    EXPECT_EQ(origin_in_new_process(request), ImageOrigin::DiskCache);
}

TEST_F(CompileCacheTest, DefaultFolderIsTheUsersCache) {
    ScopedVariable unset("PYCUDA_CACHE_DIR", nullptr);
    ScopedVariable home("XDG_CACHE_HOME", folder().c_str());
    (void)compile(request_for(doublify));
    EXPECT_TRUE(fs::exists(folder() / "pycuda" / "compiler-cache-v2"));
}

TEST_F(CompileCacheTest, ChangedHeaderIsNoticed) {
    write("a/outer.h", "#include \"inner.h\"\n");
    write("a/inner.h", "#define VALUE 1\n");
    CompileRequest request =
        request_for("#include <outer.h>\n__global__ void f(int *a) { a[0] = VALUE; }");
    request.include_dirs = {folder() / "a"};
    CompileResult before = compile(request);
    EXPECT_EQ(compile(request).origin, ImageOrigin::MemoryCache);
    EXPECT_EQ(origin_in_new_process(request), ImageOrigin::DiskCache);

    const fs::path inner = folder() / "a" / "inner.h";
    const fs::file_time_type time = fs::last_write_time(inner);
    write("a/inner.h", "#define VALUE 2\n");
    fs::last_write_time(inner, time); // as in the same tick of the file system's clock
    EXPECT_EQ(compile(request).origin, ImageOrigin::Compiler) << "in the same process";
    write("a/inner.h", "#define VALUE 3\n");
    clear_memory_cache();
    CompileResult after = compile(request);
    EXPECT_EQ(after.origin, ImageOrigin::Compiler) << "in a new process";
    EXPECT_NE(after.image, before.image);
}

TEST_F(CompileCacheTest, HeaderWithANewTimeButOldContentIsAHit) {
    const std::string header = write("a/value.h", "#define VALUE 1\n");
    age(header, std::chrono::hours(5));
    CompileRequest request =
        request_for("#include <value.h>\n__global__ void f(int *a) { a[0] = VALUE; }");
    request.include_dirs = {folder() / "a"};
    (void)compile(request);
    age(header, std::chrono::hours(1));
    EXPECT_EQ(origin_in_new_process(request), ImageOrigin::DiskCache);
}

TEST_F(CompileCacheTest, HeaderThatAppearsEarlierInThePathIsNoticed) {
    write("second/value.h", "#define VALUE 1\n");
    CompileRequest request =
        request_for("#include <value.h>\n__global__ void f(int *a) { a[0] = VALUE; }");
    request.include_dirs = {folder() / "first", folder() / "second"};
    CompileResult before = compile(request);
    write("first/value.h", "#define VALUE 2\n");
    CompileResult after = compile(request);
    EXPECT_EQ(after.origin, ImageOrigin::Compiler);
    EXPECT_NE(after.image, before.image);
}

TEST_F(CompileCacheTest, ChangedPreIncludeIsNoticed) {
    write("a/value.h", "#define VALUE 1\n");
    CompileRequest request = request_for("__global__ void f(int *a) { a[0] = VALUE; }");
    request.options = {"-include", "value.h", "-I", folder() / "a"};
    (void)compile(request);
    EXPECT_EQ(origin_in_new_process(request), ImageOrigin::DiskCache);
    write("a/value.h", "#define VALUE 2\n");
    EXPECT_EQ(compile(request).origin, ImageOrigin::Compiler);
}

TEST_F(CompileCacheTest, CurrentFolderMattersOnlyToQuotedIncludes) {
    write("one/value.h", "#define VALUE 1\n");
    write("two/value.h", "#define VALUE 2\n");
    const fs::path here = fs::current_path();
    CompileRequest plain = request_for(doublify);
    plain.options = {"-lineinfo"};
    CompileRequest quoted =
        request_for("#include \"value.h\"\n__global__ void f(int *a) { a[0] = VALUE; }");
    fs::current_path(folder() / "one");
    (void)compile(plain);
    CompileResult in_one = compile(quoted);
    fs::current_path(folder() / "two");
    EXPECT_EQ(origin_in_new_process(plain), ImageOrigin::DiskCache);
    CompileResult in_two = compile(quoted);
    fs::current_path(here);
    EXPECT_EQ(in_two.origin, ImageOrigin::Compiler);
    EXPECT_NE(in_two.image, in_one.image);
}

TEST_F(CompileCacheTest, ComputedIncludeIsNotCached) {
    write("a/value.h", "#define VALUE 1\n");
    CompileRequest request = request_for(
        "#define WHICH <value.h>\n#include WHICH\n__global__ void f(int *a) { a[0] = VALUE; }");
    request.include_dirs = {folder() / "a"};
    (void)compile(request);
    EXPECT_EQ(compile(request).origin, ImageOrigin::Compiler);
}

TEST_F(CompileCacheTest, DamagedEntryIsCompiledAgain) {
    const CompileRequest request = request_for(doublify);
    CompileResult good = compile(request);
    for (std::size_t keep : {0u, 10u, 60u, 1000u}) {
        ASSERT_EQ(images().size(), 1u);
        fs::resize_file(images()[0], keep);
        clear_memory_cache();
        CompileResult again = compile(request);
        EXPECT_EQ(again.origin, ImageOrigin::Compiler) << keep;
        EXPECT_EQ(again.image, good.image);
    }
    std::fstream file(images()[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('\x55').put('\xaa');
    file.close();
    EXPECT_EQ(origin_in_new_process(request), ImageOrigin::Compiler);
    EXPECT_EQ(origin_in_new_process(request), ImageOrigin::DiskCache) << "it was mended";
}

TEST_F(CompileCacheTest, UnusableFolderIsNoError) {
    const std::string file = write("file", "");
    for (const std::string &place : {file, file + "/below", std::string("/proc/pycuda")}) {
        CompileRequest request = request_for(doublify);
        request.cache_dir = place;
        EXPECT_EQ(origin_in_new_process(request), ImageOrigin::Compiler) << place;
    }
}

TEST_F(CompileCacheTest, ReadOnlyFolderIsNoError) {
    const CompileRequest request = request_for(doublify);
    (void)compile(request);
    CompileRequest other = request_for("__global__ void other() {}");
    fs::permissions(cache_folder(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(origin_in_new_process(request), ImageOrigin::DiskCache);
    EXPECT_EQ(origin_in_new_process(other), ImageOrigin::Compiler);
    fs::permissions(cache_folder(), fs::perms::owner_all);
}

TEST_F(CompileCacheTest, FullDiskIsNoError) {
    int status = in_child([] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit nothing{100, 100};
        ::setrlimit(RLIMIT_FSIZE, &nothing);
        return compile(request_for(doublify)).image.empty() ? 1 : 0;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(images().size(), 0u);
    for (const auto &left : fs::recursive_directory_iterator(cache_folder()))
        EXPECT_TRUE(left.is_directory()) << left.path();
}

TEST_F(CompileCacheTest, ManyProcessesAtOnce) {
    constexpr int processes = 8, kernels = 3;
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        pid_t child = ::fork();
        if (child == 0) {
            int bad = 0;
            for (int round = 0; round < 3; ++round)
                for (int k = 0; k < kernels; ++k) {
                    std::string name = "kernel" + std::to_string(k);
                    CompileRequest request =
                        request_for("__global__ void " + name + "(float *a) { a[0] = 1; }");
                    request.target = ImageKind::Ptx;
                    clear_memory_cache();
                    bad += compile(request).image.find(".entry " + name + "(") == std::string::npos;
                }
            ::_exit(bad);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status = -1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(images().size(), static_cast<std::size_t>(kernels));
    for (const auto &left : fs::recursive_directory_iterator(cache_folder()))
        EXPECT_NE(left.path().extension(), ".tmp") << left.path();
}

TEST_F(CompileCacheTest, ManyThreadsAtOnce) {
    std::vector<std::thread> threads;
    std::atomic<int> bad = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&bad] {
            for (int i = 0; i < 12; ++i) {
                std::string name = "kernel" + std::to_string(i % 3);
                CompileRequest request =
                    request_for("__global__ void " + name + "(float *a) { a[0] = 1; }");
                request.target = ImageKind::Ptx;
                bad += compile(request).image.find(".entry " + name + "(") == std::string::npos;
                if (i % 5 == 4)
                    clear_memory_cache();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(bad, 0);
    EXPECT_EQ(images().size(), 3u);
}

TEST_F(CompileCacheTest, LeastRecentlyUsedIsRemovedFirst) {
    DiskCache cache(cache_folder(), 10'000);
    std::vector<Sha256::Digest> keys;
    for (int i = 0; i < 12; ++i) {
        keys.push_back(sha256(std::to_string(i)));
        cache.store(keys.back(), entry_of(1000));
        age(cache.path_of(keys.back()), std::chrono::hours(100 - i));
    }
    EXPECT_TRUE(cache.find(keys[0])); // so that it is the most recently used one
    cache.evict();
    EXPECT_TRUE(cache.find(keys[0]));
    EXPECT_FALSE(cache.find(keys[1]));
    EXPECT_TRUE(cache.find(keys[11]));
    std::uintmax_t total = 0;
    for (const fs::path &path : images())
        total += fs::file_size(path);
    EXPECT_LE(total, 8'000u);
}

TEST_F(CompileCacheTest, FilesOfCrashedWritersAreRemoved) {
    DiskCache cache(cache_folder());
    cache.store(sha256("a"), entry_of(10));
    const std::string old = write("cache/00/1-2-3.tmp", "half"),
                      fresh = write("cache/00/4.tmp", "x");
    age(old, std::chrono::hours(2));
    cache.evict();
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(fresh));
}

namespace {

bool nvrtc_is_loaded() {
    std::ifstream maps("/proc/self/maps");
    const std::string text((std::istreambuf_iterator<char>(maps)), {});
    return text.find("libnvrtc") != std::string::npos;
}

} // namespace

TEST_F(CompileCacheTest, DiskHitLoadsNoCompiler) {
    if (nvrtc_is_loaded())
        GTEST_SKIP() << "a test before this one loaded NVRTC; ctest runs each by itself";
    const CompileRequest request = request_for(doublify);
    EXPECT_EQ(in_child([&] { return compile(request).origin == ImageOrigin::Compiler ? 0 : 1; }),
              0);
    EXPECT_EQ(compile(request).origin, ImageOrigin::DiskCache);
    EXPECT_FALSE(nvrtc_is_loaded());
}
