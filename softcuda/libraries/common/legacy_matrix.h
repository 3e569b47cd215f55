// legacy_matrix.h -- cusparseMatDescr_t, which cuSOLVER's functions of sparse matrices take, too.
#pragma once

/// The description of a matrix for cuSPARSE's older functions.
struct cusparseMatDescr {
    int type = 0, fill = 0, diagonal = 0, base = 0;
};
