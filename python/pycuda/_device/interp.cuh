// interp.cuh -- evaluates the piecewise linear function through points, as numpy.interp.
//
// Defined before this file: using X, the type of the coordinates where it is evaluated; using P,
// the type of the points' coordinates; using V, the type of their values; is_part, whether these
// are the real or the imaginary parts of complex numbers.
//
// All is computed in double. The operations are rounded one by one, so that results are NumPy's,
// which divides complex numbers by a multiplication.
#pragma once

__device__ __forceinline__ double line(double slope, double step, double start) {
    return __dadd_rn(__dmul_rn(slope, step), start);
}

extern "C" __global__ void __launch_bounds__(256)
    interp(const X *x, long long n, const P *points, const V *values, long long count, double *out,
           double left, double right, int has_left, int has_right) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    const double at = static_cast<double>(x[i]);
    const double first = static_cast<double>(points[0]);
    const double end = static_cast<double>(points[count - 1]);
    const double first_value = static_cast<double>(values[0]);
    const double last_value = static_cast<double>(values[count - 1]);
    const double before = has_left ? left : first_value, after = has_right ? right : last_value;
    double result;
    if (count == 1) {
        result = at < first ? before : at > first ? after : first_value;
    } else if (at != at) {
        result = at;
    } else if (at > end) {
        result = after;
    } else if (at < first) {
        result = before;
    } else {
        // The last point that is not after `at`.
        long long low = 0, high = count - 1;
        while (low < high) {
            const long long middle = (low + high + 1) / 2;
            if (static_cast<double>(points[middle]) <= at)
                low = middle;
            else
                high = middle - 1;
        }
        const double x0 = static_cast<double>(points[low]), y0 = static_cast<double>(values[low]);
        if (low == count - 1 || x0 == at) {
            result = y0;
        } else {
            const double x1 = static_cast<double>(points[low + 1]);
            const double y1 = static_cast<double>(values[low + 1]);
            const double rise = __dsub_rn(y1, y0), run = __dsub_rn(x1, x0);
            const double slope = is_part ? __dmul_rn(rise, 1 / run) : __ddiv_rn(rise, run);
            result = line(slope, __dsub_rn(at, x0), y0);
            if (result != result) {
                result = line(slope, __dsub_rn(at, x1), y1);
                if (result != result && y0 == y1)
                    result = y0;
            }
        }
    }
    out[i] = result;
}
