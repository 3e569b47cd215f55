// host_classes.cpp -- declarations of the host's C++ classes, for libraries that mention them.
#include "host_classes.h"

#include <string>

namespace pycuda::compile_detail {
namespace {

/// In the names of all functions that the header declares.
constexpr std::string_view scope = "pycuda_host";

} // namespace

// std::numeric_limits is a template of its own, so that a library may specialise it for its types.
const char *text_of_host_class_header() {
    return R"(#pragma once
#include <cuda/std/cstddef>
#include <cuda/std/limits>
#include <cuda/std/utility>
namespace pycuda_host {
struct nothrow_t {};
extern const nothrow_t nothrow;
int rand();
void srand(unsigned);
void *realloc(void *, size_t);
void *calloc(size_t, size_t);
void abort();
void exit(int);
char *getenv(const char *);
class string {
  public:
    typedef char value_type;
    static constexpr size_t npos = size_t(-1);
    string();
    string(const char *);
    string(const char *, size_t);
    string(size_t, char);
    string(const string &);
    ~string();
    string &operator=(const string &);
    string &operator+=(const string &);
    string &operator+=(char);
    char &operator[](size_t);
    const char &operator[](size_t) const;
    const char *c_str() const;
    const char *data() const;
    const char *begin() const;
    const char *end() const;
    size_t size() const;
    size_t length() const;
    size_t find(const string &, size_t = 0) const;
    string substr(size_t = 0, size_t = npos) const;
    bool empty() const;
    void clear();
    void push_back(char);
    void resize(size_t);
    string &append(const string &);
};
string operator+(const string &, const string &);
string operator+(const string &, char);
bool operator==(const string &, const string &);
bool operator!=(const string &, const string &);
bool operator<(const string &, const string &);
template <class T> string to_string(T);
class ios_base {
  public:
    typedef int fmtflags;
    fmtflags flags() const;
    fmtflags flags(fmtflags);
    fmtflags setf(fmtflags);
    long precision() const;
    long precision(long);
    long width() const;
    long width(long);
    char fill() const;
    char fill(char);
    void copyfmt(const ios_base &);
    bool good() const;
    bool fail() const;
    explicit operator bool() const;
};
class ostream : virtual public ios_base {
  public:
    template <class T> ostream &operator<<(const T &);
    ostream &operator<<(ostream &(*)(ostream &));
    ostream &write(const char *, long);
    ostream &flush();
};
class istream : virtual public ios_base {
  public:
    template <class T> istream &operator>>(T &);
    istream &read(char *, long);
};
class iostream : public ostream, public istream {};
class stringstream : public iostream {
  public:
    stringstream();
    explicit stringstream(const string &);
    string str() const;
    void str(const string &);
};
typedef stringstream ostringstream;
typedef stringstream istringstream;
class fstream : public iostream {
  public:
    fstream();
    explicit fstream(const string &);
    void close();
};
typedef fstream ofstream;
typedef fstream ifstream;
ostream &endl(ostream &);
ostream &flush(ostream &);
extern ostream cout, cerr, clog;
extern istream cin;
class exception {
  public:
    exception();
    exception(const exception &);
    virtual ~exception();
    virtual const char *what() const noexcept;
};
class runtime_error : public exception {
  public:
    explicit runtime_error(const string &);
};
class logic_error : public exception {
  public:
    explicit logic_error(const string &);
};
typedef runtime_error range_error;
typedef runtime_error overflow_error;
typedef logic_error invalid_argument;
typedef logic_error out_of_range;
typedef logic_error length_error;
typedef exception bad_alloc;
template <class T> class allocator {
  public:
    typedef T value_type;
    T *allocate(size_t);
    void deallocate(T *, size_t);
};
template <class T, class A = allocator<T>> class vector {
  public:
    typedef T value_type;
    typedef T *iterator;
    typedef const T *const_iterator;
    typedef size_t size_type;
    vector();
    explicit vector(size_t);
    vector(size_t, const T &);
    template <class I> vector(I, I);
    vector(const vector &);
    ~vector();
    vector &operator=(const vector &);
    T &operator[](size_t);
    const T &operator[](size_t) const;
    T &at(size_t);
    const T &at(size_t) const;
    T &front();
    T &back();
    T *data();
    const T *data() const;
    T *begin();
    T *end();
    const T *begin() const;
    const T *end() const;
    size_t size() const;
    bool empty() const;
    void clear();
    void resize(size_t);
    void resize(size_t, const T &);
    void reserve(size_t);
    void push_back(const T &);
    void pop_back();
    template <class... U> T &emplace_back(U &&...);
};
}
double fminl(double, double);
double fmaxl(double, double);
namespace std {
using namespace cuda::std;
template <class T> struct numeric_limits : cuda::std::numeric_limits<T> {};
template <> struct numeric_limits<long double> : cuda::std::numeric_limits<double> {};
using pycuda_host::nothrow_t; using pycuda_host::nothrow; using pycuda_host::rand;
using pycuda_host::srand; using pycuda_host::realloc; using pycuda_host::calloc;
using pycuda_host::abort; using pycuda_host::exit; using pycuda_host::getenv;
using pycuda_host::string; using pycuda_host::to_string;
using pycuda_host::ios_base; using pycuda_host::ostream; using pycuda_host::istream;
using pycuda_host::iostream; using pycuda_host::stringstream; using pycuda_host::ostringstream;
using pycuda_host::istringstream; using pycuda_host::fstream; using pycuda_host::ofstream;
using pycuda_host::ifstream; using pycuda_host::endl; using pycuda_host::flush;
using pycuda_host::cout; using pycuda_host::cerr; using pycuda_host::clog; using pycuda_host::cin;
using pycuda_host::exception; using pycuda_host::runtime_error; using pycuda_host::logic_error;
using pycuda_host::range_error; using pycuda_host::overflow_error;
using pycuda_host::invalid_argument; using pycuda_host::out_of_range;
using pycuda_host::length_error; using pycuda_host::bad_alloc; using pycuda_host::allocator;
using pycuda_host::vector;
}
)";
}

bool needs_host_classes(std::string_view log) {
    const auto says = [&](std::string_view phrase) {
        return log.find(phrase) != std::string_view::npos;
    };
    if (says("basic_string<char") || says("::ostream") || says("::istream") ||
        (says("numeric_limits<") && says("cannot be specialized in the current scope")))
        return true;
    constexpr std::string_view missing = "namespace \"std\" has no member \"";
    for (std::size_t at = log.find(missing); at != std::string_view::npos;
         at = log.find(missing, at)) {
        at += missing.size();
        const std::string_view name = log.substr(at, log.find('"', at) - at);
        const std::string used = "using pycuda_host::" + std::string(name) + ";";
        if (std::string_view(text_of_host_class_header()).find(used) != std::string_view::npos)
            return true;
    }
    return false;
}

bool uses_host_classes(std::string_view ptx) {
    constexpr std::string_view undefined = "\n.extern ";
    for (std::size_t at = ptx.find(undefined); at != std::string_view::npos;
         at = ptx.find(undefined, at + 1))
        if (ptx.substr(at + 1, ptx.find('\n', at + 1) - at).find(scope) != std::string_view::npos)
            return true;
    return false;
}

} // namespace pycuda::compile_detail
