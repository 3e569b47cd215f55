// streams.cu -- streams, events, threads, and stream-ordered memory.
#include "program.h"

#include <thread>
#include <vector>

__global__ void add(int *values, int n, int step) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        values[i] += step;
}

void work(int seed) {
    const int n = 10000;
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int *values;
    CUDA(cudaMallocAsync(&values, n * sizeof(int), stream));
    CUDA(cudaMemsetAsync(values, 0, n * sizeof(int), stream));
    for (int i = 0; i < 10; i++)
        add<<<20, 64, 0, stream>>>(values, n, seed);
    int *host;
    CUDA(cudaMallocHost(&host, n * sizeof(int)));
    CUDA(cudaMemcpyAsync(host, values, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(values, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        CHECK(host[i] == 10 * seed);
    CUDA(cudaFreeHost(host));
    CUDA(cudaStreamDestroy(stream));
}

int main() {
    std::vector<std::thread> threads;
    for (int t = 1; t <= 4; t++)
        threads.emplace_back(work, t);
    for (std::thread &thread : threads)
        thread.join();

    cudaStream_t first, second;
    CUDA(cudaStreamCreate(&first));
    CUDA(cudaStreamCreate(&second));
    cudaEvent_t done, end;
    CUDA(cudaEventCreate(&done));
    CUDA(cudaEventCreate(&end));
    int *values;
    CUDA(cudaMallocManaged(&values, 4));
    *values = 0;
    add<<<1, 1, 0, first>>>(values, 1, 5);
    CUDA(cudaEventRecord(done, first));
    CUDA(cudaStreamWaitEvent(second, done));
    add<<<1, 1, 0, second>>>(values, 1, 7);
    CUDA(cudaEventRecord(end, second));
    CUDA(cudaEventSynchronize(end));
    float milliseconds = -1;
    CUDA(cudaEventElapsedTime(&milliseconds, done, end));
    CHECK(milliseconds >= 0);
    CHECK(*values == 12);
    CUDA(cudaDeviceSynchronize());
    std::puts("passed");
}
