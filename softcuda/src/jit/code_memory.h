// code_memory.h -- memory for machine code, in few mappings.
//
// Linux limits the mappings of a process to 65,530 (vm.max_map_count). With JITLink's own memory
// manager each object is a range of its own, with a mapping for each protection and gaps between
// them: after 20,000 kernels, no memory of any kind can be mapped. Here the pages of all
// objects with equal protection are neighbours, and Linux merges neighbours to one mapping:
//
//     area   | code of object 1, 2, 3 ... | constants of 1, 2, 3 ... | variables of 1, 2, 3 ... |
//            | read and execute           | read only                | read and write           |
//
// No page is writable and executable at the same time.
#pragma once

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::jit {

/// Any thread may call any function. Freed pages are inaccessible until other code gets them.
class CodeMemory final : public llvm::jitlink::JITLinkMemoryManager {
  public:
    CodeMemory();
    ~CodeMemory() override;

    using JITLinkMemoryManager::allocate;
    using JITLinkMemoryManager::deallocate;
    void allocate(const llvm::jitlink::JITLinkDylib *library, llvm::jitlink::LinkGraph &graph,
                  OnAllocatedFunction then) override;
    void deallocate(std::vector<FinalizedAlloc> objects, OnDeallocatedFunction then) override;

  private:
    class Area;
    class Object;
    enum class Zone : std::uint8_t { Code, Constants, Variables };
    static constexpr std::size_t kZones = 3;
    using Bytes = std::array<std::uint64_t, kZones>;

    /// Whole pages of a zone.
    struct Pages {
        Area *area = nullptr;
        Zone zone = Zone::Code;
        std::uint64_t begin = 0, bytes = 0;
    };
    /// Pages of one area, which are readable and writable. Empty if the system has no more memory
    /// or mappings.
    std::vector<Pages> take(const Bytes &wanted);
    void give_back(const std::vector<Pages> &taken);

    std::mutex mutex_;
    std::vector<std::unique_ptr<Area>> areas_;
    std::map<std::uint64_t, std::vector<Pages>> objects_; ///< by number
    std::uint64_t last_object_ = 0;
};

} // namespace softcuda::jit
