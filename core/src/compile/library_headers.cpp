// library_headers.cpp -- replacements for headers of CUDA's libraries that declare host functions.
#include "library_headers.h"

#include <map>
#include <string>

namespace pycuda::compile_detail {
namespace {

constexpr const char *pragma_once = "#pragma once\n";
constexpr const char *number_types = R"(#pragma once
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
)";
constexpr const char *cufft_h = R"(
#ifndef CUFFT_FORWARD
#include <cuComplex.h>
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
#endif
)";

struct LibraryHeader {
    std::string_view name;
    const char *text;
};
constexpr LibraryHeader library_headers[] = {{"cublas.h", number_types},
                                             {"cublasLt.h", number_types},
                                             {"cublasXt.h", number_types},
                                             {"cublas_api.h", number_types},
                                             {"cublas_v2.h", number_types},
                                             {"cudaGL.h", pragma_once},
                                             {"cudaProfiler.h", pragma_once},
                                             {"cuda_gl_interop.h", pragma_once},
                                             {"cuda_profiler_api.h", pragma_once},
                                             {"cudnn.h", pragma_once},
                                             {"cufft.h", cufft_h},
                                             {"cufftXt.h", cufft_h},
                                             {"cufftw.h", cufft_h},
                                             {"curand.h", pragma_once},
                                             {"cusolverDn.h", number_types},
                                             {"cusolverMg.h", number_types},
                                             {"cusolverRf.h", number_types},
                                             {"cusolverSp.h", number_types},
                                             {"cusparse.h", number_types},
                                             {"cusparse_v2.h", number_types},
                                             {"nccl.h", number_types},
                                             {"nvJitLink.h", pragma_once},
                                             {"nvToolsExt.h", pragma_once},
                                             {"nvToolsExtCuda.h", pragma_once},
                                             {"nvml.h", pragma_once},
                                             {"nvrtc.h", pragma_once},
                                             {"nvtx3/nvToolsExt.h", pragma_once},
                                             {"nvtx3/nvToolsExtCuda.h", pragma_once},
                                             {"nvtx3/nvtx3.hpp", pragma_once}};

// The parts of <cub/cub.cuh> for kernels; the other parts launch kernels of the host.
constexpr std::string_view parts_of_cub[] = {"block/block_adjacent_difference",
                                             "block/block_discontinuity",
                                             "block/block_exchange",
                                             "block/block_histogram",
                                             "block/block_load",
                                             "block/block_merge_sort",
                                             "block/block_radix_rank",
                                             "block/block_radix_sort",
                                             "block/block_reduce",
                                             "block/block_run_length_decode",
                                             "block/block_scan",
                                             "block/block_shuffle",
                                             "block/block_store",
                                             "grid/grid_even_share",
                                             "grid/grid_mapping",
                                             "grid/grid_queue",
                                             "iterator/arg_index_input_iterator",
                                             "iterator/cache_modified_input_iterator",
                                             "iterator/cache_modified_output_iterator",
                                             "iterator/tex_obj_input_iterator",
                                             "thread/thread_load",
                                             "thread/thread_operators",
                                             "thread/thread_reduce",
                                             "thread/thread_scan",
                                             "thread/thread_search",
                                             "thread/thread_sort",
                                             "thread/thread_store",
                                             "util_ptx",
                                             "util_type",
                                             "warp/warp_exchange",
                                             "warp/warp_load",
                                             "warp/warp_merge_sort",
                                             "warp/warp_reduce",
                                             "warp/warp_scan",
                                             "warp/warp_store"};
constexpr std::string_view host_parts_of_cub[] = {"cub",
                                                  "device/device_adjacent_difference",
                                                  "device/device_copy",
                                                  "device/device_for",
                                                  "device/device_histogram",
                                                  "device/device_memcpy",
                                                  "device/device_merge",
                                                  "device/device_merge_sort",
                                                  "device/device_partition",
                                                  "device/device_radix_sort",
                                                  "device/device_reduce",
                                                  "device/device_run_length_encode",
                                                  "device/device_scan",
                                                  "device/device_segmented_radix_sort",
                                                  "device/device_segmented_reduce",
                                                  "device/device_segmented_sort",
                                                  "device/device_select",
                                                  "device/device_spmv",
                                                  "device/device_transform",
                                                  "util_allocator"};

std::string header_of_cub(std::string_view part) { return "cub/" + std::string(part) + ".cuh"; }

/// The versions of CUB differ in their parts.
std::string text_for_cub() {
    std::string text = "#pragma once\n#include <cub/config.cuh>\n";
    for (const std::string_view part : parts_of_cub) {
        const std::string header = "<" + header_of_cub(part) + ">";
        text += "#if __has_include(" + header + ")\n#include " + header + "\n#endif\n";
    }
    return text;
}

using Table = std::map<std::string, std::string, std::less<>>;

Table make_table() {
    Table table;
    for (const LibraryHeader &header : library_headers)
        table[std::string(header.name)] = header.text;
    for (const std::string_view part : host_parts_of_cub)
        table[header_of_cub(part)] = text_for_cub();
    return table;
}

const Table &table_of_headers() {
    static const Table *table = new Table(make_table());
    return *table;
}

} // namespace

const char *library_header(std::string_view name) {
    const auto found = table_of_headers().find(name);
    return found == table_of_headers().end() ? nullptr : found->second.c_str();
}

bool is_library_header(std::string_view name) { return table_of_headers().contains(name); }

} // namespace pycuda::compile_detail
