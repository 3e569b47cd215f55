// channel.cpp -- the type of an array's elements, in both APIs.
#include "channel.h"

#include <algorithm>
#include <iterator>

namespace softcudart {
namespace {

struct Row {
    cudaChannelFormatKind kind;
    int bits; ///< of one channel
    CUarray_format format;
};

constexpr Row kPlain[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

/// Kinds that also determine the number of channels.
struct Special {
    cudaChannelFormatKind kind;
    CUarray_format format;
    unsigned channels;
    int bits;
};

constexpr Special kSpecial[] = {
    {cudaChannelFormatKindUnsignedNormalized8X1, CU_AD_FORMAT_UNORM_INT8X1, 1, 8},
    {cudaChannelFormatKindUnsignedNormalized8X2, CU_AD_FORMAT_UNORM_INT8X2, 2, 8},
    {cudaChannelFormatKindUnsignedNormalized8X4, CU_AD_FORMAT_UNORM_INT8X4, 4, 8},
    {cudaChannelFormatKindUnsignedNormalized16X1, CU_AD_FORMAT_UNORM_INT16X1, 1, 16},
    {cudaChannelFormatKindUnsignedNormalized16X2, CU_AD_FORMAT_UNORM_INT16X2, 2, 16},
    {cudaChannelFormatKindUnsignedNormalized16X4, CU_AD_FORMAT_UNORM_INT16X4, 4, 16},
    {cudaChannelFormatKindSignedNormalized8X1, CU_AD_FORMAT_SNORM_INT8X1, 1, 8},
    {cudaChannelFormatKindSignedNormalized8X2, CU_AD_FORMAT_SNORM_INT8X2, 2, 8},
    {cudaChannelFormatKindSignedNormalized8X4, CU_AD_FORMAT_SNORM_INT8X4, 4, 8},
    {cudaChannelFormatKindSignedNormalized16X1, CU_AD_FORMAT_SNORM_INT16X1, 1, 16},
    {cudaChannelFormatKindSignedNormalized16X2, CU_AD_FORMAT_SNORM_INT16X2, 2, 16},
    {cudaChannelFormatKindSignedNormalized16X4, CU_AD_FORMAT_SNORM_INT16X4, 4, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed1, CU_AD_FORMAT_BC1_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed1SRGB, CU_AD_FORMAT_BC1_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed2, CU_AD_FORMAT_BC2_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed2SRGB, CU_AD_FORMAT_BC2_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed3, CU_AD_FORMAT_BC3_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed3SRGB, CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed4, CU_AD_FORMAT_BC4_UNORM, 1, 8},
    {cudaChannelFormatKindSignedBlockCompressed4, CU_AD_FORMAT_BC4_SNORM, 1, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed5, CU_AD_FORMAT_BC5_UNORM, 2, 8},
    {cudaChannelFormatKindSignedBlockCompressed5, CU_AD_FORMAT_BC5_SNORM, 2, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed6H, CU_AD_FORMAT_BC6H_UF16, 3, 16},
    {cudaChannelFormatKindSignedBlockCompressed6H, CU_AD_FORMAT_BC6H_SF16, 3, 16},
    {cudaChannelFormatKindUnsignedBlockCompressed7, CU_AD_FORMAT_BC7_UNORM, 4, 8},
    {cudaChannelFormatKindUnsignedBlockCompressed7SRGB, CU_AD_FORMAT_BC7_UNORM_SRGB, 4, 8},
    {cudaChannelFormatKindNV12, CU_AD_FORMAT_NV12, 3, 8},
};

/// The channels must be the first one, two or four, with equal sizes. Throws Failure otherwise.
unsigned count_channels(const cudaChannelFormatDesc &description) {
    const int bits[] = {description.x, description.y, description.z, description.w};
    unsigned count = 0;
    while (count < 4 && bits[count] != 0)
        count++;
    const bool equal = std::all_of(bits, bits + count, [&](int b) { return b == bits[0]; });
    const bool rest = std::all_of(bits + count, bits + 4, [](int b) { return b == 0; });
    require(equal && rest && (count == 1 || count == 2 || count == 4),
            cudaErrorInvalidChannelDescriptor);
    return count;
}

} // namespace

Channel channel_of(const cudaChannelFormatDesc &description) {
    for (const Special &row : kSpecial)
        if (row.kind == description.f)
            return {row.format, row.channels};
    const unsigned count = count_channels(description);
    const Row *row = std::ranges::find_if(kPlain, [&](const Row &candidate) {
        return candidate.kind == description.f && candidate.bits == description.x;
    });
    require(row != std::end(kPlain), cudaErrorInvalidChannelDescriptor);
    return {row->format, count};
}

cudaChannelFormatDesc description_of(CUarray_format format, unsigned channels) {
    const auto make = [&](int bits, unsigned count, cudaChannelFormatKind kind) {
        const auto size = [&](unsigned channel) { return channel < count ? bits : 0; };
        return cudaChannelFormatDesc{size(0), size(1), size(2), size(3), kind};
    };
    for (const Special &row : kSpecial)
        if (row.format == format)
            return make(row.bits, row.channels, row.kind);
    const Row *row = std::ranges::find(kPlain, format, &Row::format);
    require(row != std::end(kPlain), cudaErrorInvalidChannelDescriptor);
    return make(row->bits, channels, row->kind);
}

std::size_t bytes_of(CUarray_format format) noexcept {
    for (const Special &row : kSpecial)
        if (row.format == format)
            return static_cast<std::size_t>(row.bits) / 8;
    const Row *row = std::ranges::find(kPlain, format, &Row::format);
    return row == std::end(kPlain) ? 0 : static_cast<std::size_t>(row->bits) / 8;
}

} // namespace softcudart

using namespace softcudart;

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *result, cudaArray_const_t array) {
    return with_context([&] {
        require_non_null(result);
        CUDA_ARRAY3D_DESCRIPTOR description{};
        check(cuArray3DGetDescriptor(&description, as<CUarray>(const_cast<cudaArray *>(array))));
        *result = description_of(description.Format, description.NumChannels);
    });
}
