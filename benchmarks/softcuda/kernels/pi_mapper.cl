kernel void pi_mapper(global float *dest, int n)
{
    const int id = get_global_id(0);
    const double x = 1.0 * id / n;
    if (id < n)
        dest[id] = 4.0 / (1.0 + x * x);
}
