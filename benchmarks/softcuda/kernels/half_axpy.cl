// PoCL 3.0 has no cl_khr_fp16 on x86: halves are loaded and stored, the arithmetic is in float.
kernel void half_axpy(float a, global const half *x, global half *y, int pairs)
{
    int i = get_global_id(0);
    if (i < pairs)
        vstore_half2(a * vload_half2(i, x) + vload_half2(i, y), i, y);
}
