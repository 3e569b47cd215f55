"""CUDA C++ for tests of compute capability 9.0: PTX instructions that CUDA's headers have no functions for."""

from pycuda.compiler import SourceModule


def function_of(source, name, **options):
    module = SourceModule(source, no_extern_c=True, **options)
    return module.get_function(name)


# Barriers in shared memory, bulk copies, clusters.
PTX = r"""
    __device__ unsigned shared_address(const void *at)
    {
        return static_cast<unsigned>(__cvta_generic_to_shared(at));
    }
    __device__ unsigned in_block(const void *at, unsigned rank)
    {
        unsigned there;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(there) : "r"(shared_address(at)), "r"(rank));
        return there;
    }
    __device__ void initialize(unsigned long long *barrier, unsigned count)
    {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                     :: "r"(shared_address(barrier)), "r"(count));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __device__ void arrive(unsigned long long *barrier)
    {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                     :: "r"(shared_address(barrier)) : "memory");
    }
    __device__ void arrive_at(unsigned barrier)
    {
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                     :: "r"(barrier) : "memory");
    }
    __device__ void expect(unsigned long long *barrier, unsigned bytes)
    {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
    }
    __device__ void wait(unsigned long long *barrier, unsigned parity)
    {
        asm volatile("{ .reg .pred p; AGAIN%=: mbarrier.try_wait.parity.acquire.cluster"
                     ".shared::cta.b64 p, [%0], %1; @!p bra AGAIN%=; }"
                     :: "r"(shared_address(barrier)), "r"(parity) : "memory");
    }
    __device__ void copy_in(unsigned to, const void *from, unsigned bytes, unsigned barrier)
    {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];"
                     :: "r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
    }
    __device__ void copy_out(void *to, const void *from, unsigned bytes)
    {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :: "l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
    }
    __device__ void wait_for_copies_out()
    {
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __device__ unsigned cluster_rank()
    {
        unsigned rank;
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
        return rank;
    }
    __device__ void meet()
    {
        asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
                     ::: "memory");
    }
"""
