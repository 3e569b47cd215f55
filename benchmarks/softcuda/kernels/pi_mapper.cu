// pi_mapper.cu -- the integrand of pi in double precision, as in PyCUDA's tutorial.
__global__ void pi_mapper(float *dest, int n)
{
    const int id = threadIdx.x + blockDim.x * blockIdx.x;
    const double x = 1.0 * id / n;
    if (id < n)
        dest[id] = 4.0 / (1.0 + x * x);
}
