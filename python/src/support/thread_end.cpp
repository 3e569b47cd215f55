// thread_end.cpp -- daemon threads survive the end of Python.
//
// When Python ends, it ends each daemon thread that asks for the GIL, in whatever function of the C
// API the thread is (before Python 3.14; since then the thread waits for ever). A thread ends by
// unwinding its stack through the frames of this module. Their destructors would use objects of
// Python without the GIL; a noexcept function would abort the process, and its exit code would be
// lost. So the linker replaces each function of the table (-Wl,--wrap) by one that stops the
// unwinding: the thread then waits for the end of the process, as in Python 3.14.
#include <Python.h>

#include <cxxabi.h>
#include <unistd.h>

#include <cstdarg>

namespace {

[[noreturn]] void wait_for_process_end() {
    for (;;)
        ::pause();
}

} // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
#define PYTHON_CALL(result, name, parameters, arguments)                                           \
    extern "C" result __real_##name parameters;                                                    \
    extern "C" result __wrap_##name parameters;                                                    \
    extern "C" result __wrap_##name parameters {                                                   \
        try {                                                                                      \
            return __real_##name arguments;                                                        \
        } catch (abi::__forced_unwind &) {                                                         \
            wait_for_process_end();                                                                \
        }                                                                                          \
    }
#include "python_calls.def"
#undef PYTHON_CALL

// Functions with a variable number of arguments

extern "C" PyObject *__wrap_PyErr_Format(PyObject *type, const char *format, ...);
extern "C" PyObject *__wrap_PyErr_Format(PyObject *type, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(type, format, arguments);
    va_end(arguments);
    return nullptr;
}

extern "C" int __wrap_PyErr_WarnFormat(PyObject *type, Py_ssize_t level, const char *format, ...);
extern "C" int __wrap_PyErr_WarnFormat(PyObject *type, Py_ssize_t level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyObject *text = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    const char *utf8 = text == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(text, nullptr);
    const int result = utf8 == nullptr ? -1 : PyErr_WarnEx(type, utf8, level);
    Py_XDECREF(text);
    return result;
}

extern "C" int __wrap_PyArg_ParseTuple(PyObject *tuple, const char *format, ...);
extern "C" int __wrap_PyArg_ParseTuple(PyObject *tuple, const char *format, ...) {
    va_list places;
    va_start(places, format);
    const int result = PyArg_VaParse(tuple, format, places);
    va_end(places);
    return result;
}

extern "C" int __wrap_PyArg_ParseTupleAndKeywords(PyObject *tuple, PyObject *keywords,
                                                  const char *format, char **names, ...);
extern "C" int __wrap_PyArg_ParseTupleAndKeywords(PyObject *tuple, PyObject *keywords,
                                                  const char *format, char **names, ...) {
    va_list places;
    va_start(places, names);
    const int result = PyArg_VaParseTupleAndKeywords(tuple, keywords, format, names, places);
    va_end(places);
    return result;
}

// The name in a module that was compiled without PY_SSIZE_T_CLEAN, or for Python 3.13 and later.
#undef PyObject_CallMethod
extern "C" PyObject *__wrap_PyObject_CallMethod(PyObject *object, const char *name,
                                                const char *format, ...);
extern "C" PyObject *__wrap_PyObject_CallMethod(PyObject *object, const char *name,
                                                const char *format, ...) {
    PyObject *method = PyObject_GetAttrString(object, name);
    if (method == nullptr)
        return nullptr;
    PyObject *values = nullptr;
    if (format != nullptr && *format != 0) {
        va_list places;
        va_start(places, format);
        values = Py_VaBuildValue(format, places);
        va_end(places);
    } else {
        values = PyTuple_New(0);
    }
    if (values != nullptr && !PyTuple_Check(values)) { // one value
        PyObject *tuple = PyTuple_New(1);
        if (tuple == nullptr || PyTuple_SetItem(tuple, 0, values) != 0)
            Py_CLEAR(tuple); // SetItem() has released the value, or there is no memory
        values = tuple;
    }
    PyObject *result = values == nullptr ? nullptr : PyObject_Call(method, values, nullptr);
    Py_XDECREF(values);
    Py_DECREF(method);
    return result;
}
// NOLINTEND(bugprone-reserved-identifier)
