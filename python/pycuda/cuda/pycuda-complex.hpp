// pycuda-complex.hpp -- complex numbers in kernels: pycuda::complex<float>, pycuda::complex<double>.
//
// The layout is that of numpy's complex64 and complex128: the real part, then the imaginary part.
// May be included inside extern "C". Functions whose textbook formula overflows or cancels use a
// stable formula.
#pragma once

extern "C++" {
namespace pycuda {

namespace detail {
template <bool> struct when {};
template <> struct when<true> {
    typedef int type;
};
} // namespace detail

template <class T> struct complex {
    typedef T value_type;
    T _M_re, _M_im;

    __host__ __device__ constexpr complex(T re = T(), T im = T()) : _M_re(re), _M_im(im) {}
    complex(const complex &) = default;
    __host__ __device__ complex(const volatile complex &z) : _M_re(z._M_re), _M_im(z._M_im) {}
    // float to double implicitly; double to float only explicitly.
    template <class U, typename detail::when<(sizeof(U) <= sizeof(T))>::type = 0>
    __host__ __device__ constexpr complex(const complex<U> &z)
        : _M_re(static_cast<T>(z._M_re)), _M_im(static_cast<T>(z._M_im)) {}
    template <class U, typename detail::when<(sizeof(U) > sizeof(T))>::type = 0>
    __host__ __device__ constexpr explicit complex(const complex<U> &z)
        : _M_re(static_cast<T>(z._M_re)), _M_im(static_cast<T>(z._M_im)) {}

    __host__ __device__ constexpr T real() const { return _M_re; }
    __host__ __device__ constexpr T imag() const { return _M_im; }
    __host__ __device__ T real() const volatile { return _M_re; }
    __host__ __device__ T imag() const volatile { return _M_im; }
    __host__ __device__ void real(T re) { _M_re = re; }
    __host__ __device__ void imag(T im) { _M_im = im; }

    complex &operator=(const complex &) = default;
    __host__ __device__ volatile complex &operator=(const complex &z) volatile {
        _M_re = z._M_re;
        _M_im = z._M_im;
        return *this;
    }
    __host__ __device__ complex &operator=(const volatile complex &z) {
        return *this = complex(z);
    }
    __host__ __device__ volatile complex &operator=(const volatile complex &z) volatile {
        return *this = complex(z);
    }
    __host__ __device__ complex &operator=(T re) {
        _M_re = re;
        _M_im = T();
        return *this;
    }
    template <class U> __host__ __device__ complex &operator=(const complex<U> &z) {
        _M_re = static_cast<T>(z._M_re);
        _M_im = static_cast<T>(z._M_im);
        return *this;
    }
    __host__ __device__ complex &operator+=(T re) { return *this = *this + re; }
    __host__ __device__ complex &operator-=(T re) { return *this = *this - re; }
    __host__ __device__ complex &operator*=(T re) { return *this = *this * re; }
    __host__ __device__ complex &operator/=(T re) { return *this = *this / re; }
    template <class U> __host__ __device__ complex &operator+=(const complex<U> &z) {
        return *this = *this + complex(static_cast<T>(z._M_re), static_cast<T>(z._M_im));
    }
    template <class U> __host__ __device__ complex &operator-=(const complex<U> &z) {
        return *this = *this - complex(static_cast<T>(z._M_re), static_cast<T>(z._M_im));
    }
    template <class U> __host__ __device__ complex &operator*=(const complex<U> &z) {
        return *this = *this * complex(static_cast<T>(z._M_re), static_cast<T>(z._M_im));
    }
    template <class U> __host__ __device__ complex &operator/=(const complex<U> &z) {
        return *this = *this / complex(static_cast<T>(z._M_re), static_cast<T>(z._M_im));
    }

    // Friends, so that `2.0f * z` and `2 * z` convert the number to T.
    friend __host__ __device__ complex operator+(const complex &a) { return a; }
    friend __host__ __device__ complex operator-(const complex &a) {
        return complex(-a._M_re, -a._M_im);
    }
    friend __host__ __device__ complex operator+(const complex &a, const complex &b) {
        return complex(a._M_re + b._M_re, a._M_im + b._M_im);
    }
    friend __host__ __device__ complex operator+(const volatile complex &a,
                                                 const volatile complex &b) {
        return complex(a._M_re + b._M_re, a._M_im + b._M_im);
    }
    friend __host__ __device__ complex operator+(const complex &a, T b) {
        return complex(a._M_re + b, a._M_im);
    }
    friend __host__ __device__ complex operator+(T a, const complex &b) {
        return complex(a + b._M_re, b._M_im);
    }
    friend __host__ __device__ complex operator-(const complex &a, const complex &b) {
        return complex(a._M_re - b._M_re, a._M_im - b._M_im);
    }
    friend __host__ __device__ complex operator-(const complex &a, T b) {
        return complex(a._M_re - b, a._M_im);
    }
    friend __host__ __device__ complex operator-(T a, const complex &b) {
        return complex(a - b._M_re, -b._M_im);
    }
    friend __host__ __device__ complex operator*(const complex &a, const complex &b) {
        return complex(a._M_re * b._M_re - a._M_im * b._M_im,
                       a._M_re * b._M_im + a._M_im * b._M_re);
    }
    friend __host__ __device__ complex operator*(const volatile complex &a,
                                                 const volatile complex &b) {
        return complex(a) * complex(b);
    }
    friend __host__ __device__ complex operator*(const complex &a, T b) {
        return complex(a._M_re * b, a._M_im * b);
    }
    friend __host__ __device__ complex operator*(T a, const complex &b) { return b * a; }
    friend __host__ __device__ complex operator/(const complex &a, const complex &b) {
        return _div(a, b);
    }
    friend __host__ __device__ complex operator/(const complex &a, T b) {
        return complex(a._M_re / b, a._M_im / b);
    }
    friend __host__ __device__ complex operator/(T a, const complex &b) {
        return _div(complex(a), b);
    }
    friend __host__ __device__ bool operator==(const complex &a, const complex &b) {
        return a._M_re == b._M_re && a._M_im == b._M_im;
    }
    friend __host__ __device__ bool operator==(const complex &a, T b) {
        return a._M_re == b && a._M_im == T();
    }
    friend __host__ __device__ bool operator==(T a, const complex &b) { return b == a; }
    friend __host__ __device__ bool operator!=(const complex &a, const complex &b) {
        return !(a == b);
    }
    friend __host__ __device__ bool operator!=(const complex &a, T b) { return !(a == b); }
    friend __host__ __device__ bool operator!=(T a, const complex &b) { return !(b == a); }

    /// Smith's division: scaled by the larger part of the divisor, so that nothing overflows.
    static __host__ __device__ complex _div(const complex &a, const complex &b) {
        const T re = b._M_re < T() ? -b._M_re : b._M_re;
        const T im = b._M_im < T() ? -b._M_im : b._M_im;
        if (re == T() && im == T())
            return complex(a._M_re / re, a._M_im / re);
        if (re >= im) {
            const T ratio = b._M_im / b._M_re;
            const T scale = T(1) / (b._M_re + b._M_im * ratio);
            return complex((a._M_re + a._M_im * ratio) * scale,
                           (a._M_im - a._M_re * ratio) * scale);
        }
        const T ratio = b._M_re / b._M_im;
        const T scale = T(1) / (b._M_im + b._M_re * ratio);
        return complex((a._M_re * ratio + a._M_im) * scale, (a._M_im * ratio - a._M_re) * scale);
    }
};

template <class T> __device__ T real(const complex<T> &z) { return z._M_re; }
template <class T> __device__ T imag(const complex<T> &z) { return z._M_im; }
template <class T> __device__ T abs(const complex<T> &z) { return ::hypot(z._M_re, z._M_im); }
template <class T> __device__ T arg(const complex<T> &z) { return ::atan2(z._M_im, z._M_re); }
template <class T> __device__ T norm(const complex<T> &z) {
    return z._M_re * z._M_re + z._M_im * z._M_im;
}
template <class T> __device__ complex<T> conj(const complex<T> &z) {
    return complex<T>(z._M_re, -z._M_im);
}
template <class T> __device__ complex<T> polar(const T &rho, const T &phi = T()) {
    T sine, cosine;
    if constexpr (sizeof(T) == sizeof(float))
        ::sincosf(phi, &sine, &cosine);
    else
        ::sincos(phi, &sine, &cosine);
    return complex<T>(rho * cosine, rho * sine);
}

template <class T> __device__ complex<T> sqrt(const complex<T> &z) {
    const T re = z._M_re, im = z._M_im;
    if (re == T() && im == T())
        return complex<T>(T(), im);
    if (::isinf(im))
        return complex<T>(::fabs(im), im);
    // Halves the parts first, because |z| might overflow.
    const T larger = ::sqrt(T(2) * (::fabs(re) / 4 + ::hypot(re / 4, im / 4)));
    const T smaller = ::fabs(im) / (2 * larger);
    return re >= T() ? complex<T>(larger, ::copysign(smaller, im))
                     : complex<T>(smaller, ::copysign(larger, im));
}
template <class T> __device__ complex<T> exp(const complex<T> &z) {
    return polar(::exp(z._M_re), z._M_im);
}
template <class T> __device__ complex<T> log(const complex<T> &z) {
    return complex<T>(::log(abs(z)), arg(z));
}
template <class T> __device__ complex<T> log10(const complex<T> &z) {
    return log(z) * T(0.43429448190325182765);
}

template <class T> __device__ complex<T> pow(const complex<T> &z, const complex<T> &exponent) {
    if (z._M_re == T() && z._M_im == T())
        return exponent._M_re == T() && exponent._M_im == T() ? complex<T>(T(1)) : complex<T>();
    return exp(exponent * log(z));
}
template <class T> __device__ complex<T> pow(const complex<T> &z, const T &exponent) {
    if (z._M_re == T() && z._M_im == T())
        return exponent == T() ? complex<T>(T(1)) : complex<T>();
    return polar(::pow(abs(z), exponent), exponent * arg(z));
}
template <class T> __device__ complex<T> pow(const T &x, const complex<T> &exponent) {
    return x > T() ? polar(::pow(x, exponent._M_re), exponent._M_im * ::log(x))
                   : pow(complex<T>(x), exponent);
}
/// By repeated squaring.
template <class T> __device__ complex<T> pow(const complex<T> &z, int exponent) {
    complex<T> square = z, product(T(1));
    for (unsigned left = exponent < 0 ? 0u - static_cast<unsigned>(exponent) : exponent; left != 0;
         left >>= 1, square *= square)
        if (left & 1)
            product *= square;
    return exponent < 0 ? T(1) / product : product;
}

template <class T> __device__ complex<T> sin(const complex<T> &z) {
    return complex<T>(::sin(z._M_re) * ::cosh(z._M_im), ::cos(z._M_re) * ::sinh(z._M_im));
}
template <class T> __device__ complex<T> cos(const complex<T> &z) {
    return complex<T>(::cos(z._M_re) * ::cosh(z._M_im), -::sin(z._M_re) * ::sinh(z._M_im));
}
template <class T> __device__ complex<T> sinh(const complex<T> &z) {
    return complex<T>(::sinh(z._M_re) * ::cos(z._M_im), ::cosh(z._M_re) * ::sin(z._M_im));
}
template <class T> __device__ complex<T> cosh(const complex<T> &z) {
    return complex<T>(::cosh(z._M_re) * ::cos(z._M_im), ::sinh(z._M_re) * ::sin(z._M_im));
}
/// (tanh x (1 + tan² y) + i tan y (1 - tanh² x)) / (1 + tanh² x tan² y), which does not overflow.
template <class T> __device__ complex<T> tanh(const complex<T> &z) {
    const T t = ::tan(z._M_im), s = ::sinh(z._M_re), beta = T(1) + t * t;
    if (::isinf(s))
        return complex<T>(::copysign(T(1), s), ::copysign(T(0), t));
    const T rho = ::sqrt(T(1) + s * s), below = T(1) + beta * s * s;
    if (::isinf(t))
        return complex<T>(rho / s, T(1) / t);
    return complex<T>(beta * rho * s / below, t / below);
}
template <class T> __device__ complex<T> tan(const complex<T> &z) {
    const complex<T> turned = tanh(complex<T>(-z._M_im, z._M_re));
    return complex<T>(turned._M_im, -turned._M_re);
}

} // namespace pycuda
} // extern "C++"
