// linked_units_other.cu -- the second unit of linked_units.cu.
__device__ int shared_counter = 0;
__device__ int twice(int value) { return 2 * value; }
