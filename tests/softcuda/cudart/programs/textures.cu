// textures.cu -- textures of arrays and of memory, and surfaces.
#include "program.h"

__global__ void sample(cudaTextureObject_t image, cudaTextureObject_t line, float *out) {
    const int i = threadIdx.x;
    out[i] = tex2D<float>(image, i + 1.0F, 0.5F) + 1000 * tex1Dfetch<int>(line, i);
}

__global__ void paint(cudaSurfaceObject_t surface) {
    surf2Dwrite(float(threadIdx.x * 10 + threadIdx.y), surface, threadIdx.x * 4, threadIdx.y);
}

/// The level of a mipmapped array needs no cudaArraySurfaceLoadStore, as in a sample of NVIDIA.
void paint_a_level() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t mipmap;
    CUDA(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(8, 8, 0), 2));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    CUDA(cudaGetMipmappedArrayLevel(&resource.res.array.array, mipmap, 1));
    cudaSurfaceObject_t surface;
    CUDA(cudaCreateSurfaceObject(&surface, &resource));
    paint<<<1, dim3(4, 4)>>>(surface);
    float painted[16];
    CUDA(cudaMemcpy2DFromArray(painted, 16, resource.res.array.array, 0, 0, 16, 4,
                               cudaMemcpyDeviceToHost));
    CHECK(painted[2 * 4 + 3] == 32);
    CUDA(cudaDestroySurfaceObject(surface));
    CUDA(cudaFreeMipmappedArray(mipmap));

    cudaArray_t array;
    CUDA(cudaMallocArray(&array, &format, 4, 4));
    float row[] = {1, 2, 3, 4}; // a copy of one row needs no pitch
    CUDA(cudaMemcpy2DToArray(array, 0, 3, row, 0, 16, 1, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DFromArray(painted, 16, array, 0, 3, 16, 1, cudaMemcpyDeviceToHost));
    CHECK(painted[0] == 1 && painted[3] == 4);
    CHECK(cudaMemcpy2DToArray(array, 0, 2, row, 0, 8, 2, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidPitchValue);
    CUDA(cudaFreeArray(array));
}

int main() {
    paint_a_level();
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CUDA(cudaMallocArray(&array, &format, 4, 4, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CUDA(cudaCreateSurfaceObject(&surface, &resource));
    paint<<<1, dim3(4, 4)>>>(surface);
    CUDA(cudaDestroySurfaceObject(surface));
    float painted[16];
    CUDA(cudaMemcpy2DFromArray(painted, 16, array, 0, 0, 16, 4, cudaMemcpyDeviceToHost));
    CHECK(painted[2 * 4 + 3] == 32);

    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t image, line;
    CUDA(cudaCreateTextureObject(&image, &resource, &how, nullptr));
    const int numbers[] = {1, 2, 3, 4};
    int *memory;
    CUDA(cudaMalloc(&memory, sizeof numbers));
    CUDA(cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = sizeof numbers;
    how = {};
    CUDA(cudaCreateTextureObject(&line, &resource, &how, nullptr));
    float *out;
    CUDA(cudaMallocManaged(&out, 16));
    sample<<<1, 4>>>(image, line, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 1005 && out[1] == 2015 && out[2] == 3025 && out[3] == 4030);
    CUDA(cudaDestroyTextureObject(image));
    CUDA(cudaDestroyTextureObject(line));
    CUDA(cudaFreeArray(array));
    std::puts("passed");
}
