// clones.h -- loops that the compiler turns into vector code for several levels of the processor.
#pragma once

// SCU_VECTOR_CLONES before a function: the loader chooses among copies of the function for the
// levels of the processor's vector unit. Sanitizers do not support this.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SCU_VECTOR_CLONES [[gnu::target_clones("avx512f", "avx2", "default")]]
#define SCU_HALF_VECTOR_CLONES [[gnu::target_clones("avx2", "default")]]
#else
#define SCU_VECTOR_CLONES
#define SCU_HALF_VECTOR_CLONES
#endif
