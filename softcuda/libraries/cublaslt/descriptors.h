// descriptors.h -- cublasLt's descriptors. Their memory is the client's or of a Create function; a
// table says where each attribute is.
#pragma once

#include "../common/count.h"
#include "../common/element.h"

#include <cstddef>
#include <cstdint>

namespace softcublaslt {

using softlib::ElementType;

constexpr int column_order = 0, row_order = 1;

/// cublasLtMatrixLayout_t.
struct Layout {
    int type = 0;
    int order = column_order;
    std::uint64_t rows = 0, columns = 0;
    std::int64_t leading = 0;
    std::int32_t batch = 1;
    std::int64_t stride = 0;

    ElementType element() const { return static_cast<ElementType>(type); }
    std::int64_t place(std::int64_t row, std::int64_t column) const {
        return order == column_order ? row + column * leading : row * leading + column;
    }
    /// The elements from the first to the last of one matrix.
    std::int64_t extent() const;
    /// Throws Failure unless the layout can be that of matrices.
    void check() const;
    /// The bytes from the first to the last of all matrices.
    softlib::Count bytes() const;
};

/// The numbers of cublasLtEpilogue_t are sums of these.
enum Epilogue : std::uint32_t {
    Plain = 1,
    Relu = 2,
    Bias = 4,
    ReluGradient = 8,
    BiasGradient = 16,
    Gelu = 32,
    GeluGradient = 64,
    Auxiliary = 128,
    BiasGradientA = 256,
    BiasGradientB = 512,
};

/// cublasLtMatmulDesc_t.
struct MatmulDescription {
    std::int32_t compute = 0, scale = 0, pointer_mode = 0;
    std::int32_t op_a = 0, op_b = 0, op_c = 0;
    std::int32_t fill = 2; ///< CUBLAS_FILL_MODE_FULL
    std::uint32_t epilogue = Plain;
    const void *bias = nullptr;
    std::int64_t bias_stride = 0;
    void *auxiliary = nullptr;
    std::int64_t auxiliary_leading = 0, auxiliary_stride = 0, alpha_stride = 0;
    std::int32_t processors = 0;
    const float *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr;
    float *largest_d = nullptr;
    std::int32_t auxiliary_type = -1, bias_type = -1; ///< -1: the type of D
    std::int8_t fast_accumulation = 0;
    std::int32_t scale_modes[5] = {};

    /// The element types of the bias and of the auxiliary matrix, for a matrix D of the type
    /// `of_d`.
    ElementType bias_element(ElementType of_d) const {
        return bias_type >= 0 ? static_cast<ElementType>(bias_type) : of_d;
    }
    ElementType auxiliary_element(ElementType of_d) const {
        return auxiliary_type >= 0 ? static_cast<ElementType>(auxiliary_type) : of_d;
    }
};

/// cublasLtMatrixTransformDesc_t.
struct TransformDescription {
    std::int32_t scale = 0, pointer_mode = 0, op_a = 0, op_b = 0;
};

/// cublasLtMatmulPreference_t. Nothing here depends on it.
struct Preference {
    std::uint32_t search_mode = 0;
    std::uint64_t workspace = 0;
    std::uint32_t reduction_schemes = ~0U;
    std::uint32_t alignment[4] = {256, 256, 256, 256};
    float waves = 0;
    std::uint64_t implementations = ~0ULL;
};

/// cublasLtMatmulAlgo_t: there is one algorithm. Its configuration is kept, and has no effect.
struct Algorithm {
    std::uint32_t configuration[16];
};

} // namespace softcublaslt
