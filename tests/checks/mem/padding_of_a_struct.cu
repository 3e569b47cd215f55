// padding_of_a_struct.cu -- the host packs nine bytes for each record, the compiler uses sixteen.
// ARRAY records char[288] = zeros
// ARRAY out double[32]
// LAUNCH read<<<1, 32>>>(records, out)
struct Record {
    char tag;
    double value;
};
__global__ void read(const Record *records, double *out) {
    out[threadIdx.x] = records[threadIdx.x].value; // FINDS mem out-of-bounds
}
