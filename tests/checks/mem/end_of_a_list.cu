// end_of_a_list.cu -- follows a linked list past its last node.
// ARRAY pool int[64]
// ARRAY out int[1]
// LAUNCH follow<<<1, 1>>>(pool, out, 5)
struct Node {
    int value;
    Node *next;
};
__global__ void follow(Node *nodes, int *out, int steps) {
    for (int i = 0; i < 4; ++i) {
        nodes[i].value = i;
        nodes[i].next = i < 3 ? &nodes[i + 1] : nullptr;
    }
    int sum = 0;
    Node *node = nodes;
    for (int i = 0; i < steps; ++i) {
        sum += node->value; // FINDS mem null
        node = node->next; // MAY mem null
    }
    *out = sum;
}
