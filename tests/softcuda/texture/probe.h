// probe.h -- runs one texture or surface instruction at many points, with any CUDA driver.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace probe {

/// The texture or surface of a case, the instruction, and the points.
struct Case {
    enum class Resource { Array, Linear, Pitch, Mipmap };

    std::string name;
    Resource resource = Resource::Array;
    CUarray_format format = CU_AD_FORMAT_FLOAT;
    unsigned channels = 1;
    std::array<unsigned, 3> extent{}; ///< as in cuArray3DCreate; unused ones are 0
    unsigned array_flags = 0;
    CUaddress_mode address = CU_TR_ADDRESS_MODE_CLAMP;
    CUfilter_mode filter = CU_TR_FILTER_MODE_POINT;
    unsigned flags = 0; ///< CU_TRSF_*
    CUfilter_mode mip_filter = CU_TR_FILTER_MODE_POINT;
    float mip_bias = 0, mip_least = 0, mip_most = 0;
    /// PTX; reads %f0..%f3 or their integers %r0..%r3 and the object %h, writes %o0..%o3.
    std::string code;
    bool surface = false;      ///< %h is a surface object
    bool show_array = false;   ///< print the array's content instead of %o0..%o3
    bool small_values = false; ///< 0 or 1, so that results show the weights; integers up to 255
    /// The maximum difference from a GPU's float; 0 if all bits must be equal.
    float tolerance = 0;
};

inline constexpr unsigned kPoints = 96;

/// The driver library's functions, by name.
class Driver {
  public:
    explicit Driver(const char *path);
    [[nodiscard]] void *find(const char *symbol) const;

    template <class... Arguments> void call(const char *symbol, Arguments... arguments) const {
        check(reinterpret_cast<CUresult (*)(Arguments...)>(find(symbol))(arguments...), symbol);
    }

  private:
    static void check(CUresult result, const char *symbol);
    void *library_;
};

/// The results of a case: four words for each point, or the array's content.
std::vector<std::uint32_t> run(const Driver &driver, const Case &c);

/// All cases, in a fixed order.
std::vector<Case> all_cases();

} // namespace probe
