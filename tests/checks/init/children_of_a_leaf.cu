// children_of_a_leaf.cu -- a tree whose leaves do not get their children's fields.
// ARRAY children int[14]
// ARRAY depth int[1] = zeros
// LAUNCH build<<<1, 3>>>(children)
// LAUNCH descend<<<1, 1>>>(children, depth)
__global__ void build(int *children) {
    int node = threadIdx.x;
    children[2 * node] = 2 * node + 1;
    children[2 * node + 1] = 2 * node + 2;
}
__global__ void descend(const int *children, int *depth) {
    int node = 0, steps = 0;
    while (node < 7 && node >= 0 && steps < 3) {
        node = children[2 * node]; // FINDS init uninitialized
        ++steps;
    }
    *depth = steps;
}
