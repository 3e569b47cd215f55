// PoCL 3.0 has no sub-groups on the CPU, so there is no form with a warp for each row.
kernel void spmv_thread(global const int *starts, global const int *columns,
                        global const float *values, global const float *x, global float *y,
                        int rows)
{
    int row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}
