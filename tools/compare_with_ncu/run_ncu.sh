#!/usr/bin/env bash
# run_ncu.sh -- Nsight Compute's counters for kernels.cu, as CSV on stdout. Needs nvcc, ncu, a GPU.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
nvcc -O3 -arch="${1:-sm_90}" -o "$folder/kernels" "$here/main.cu"
metrics=(
    l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
    l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
    l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
    l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
    smsp__inst_executed.sum
    smsp__thread_inst_executed.sum
    smsp__thread_inst_executed_per_inst_executed.ratio
    smsp__thread_inst_executed_pred_on_per_inst_executed.ratio
)
ncu --csv --page raw --print-units base \
    --metrics "$(IFS=,; printf '%s' "${metrics[*]}")" "$folder/kernels"
