/* Threefry-2x32 with 20 rounds for the counters of one key, as in numpy_backend/random_bits.py. */

#include "slots.h"
#include <stdint.h>

#define MIN_WITHOUT_LOCK 4096 /* counters from which giving up the interpreter's lock pays */

#define ROUND(r)                                                                                                   \
    do {                                                                                                           \
        a += b;                                                                                                    \
        b = (b << (r) | b >> (32 - (r))) ^ a;                                                                      \
    } while (0)

#define GROUP(r0, r1, r2, r3, key_a, key_b, n)                                                                     \
    do {                                                                                                           \
        ROUND(r0);                                                                                                 \
        ROUND(r1);                                                                                                 \
        ROUND(r2);                                                                                                 \
        ROUND(r3);                                                                                                 \
        a += (key_a);                                                                                              \
        b += (key_b) + (n);                                                                                        \
    } while (0)

static void compute(uint32_t k0, uint32_t k1, const uint32_t *restrict high, const uint32_t *restrict low,
                    uint32_t *restrict first, uint32_t *restrict second, Py_ssize_t count)
{
    uint32_t k2 = k0 ^ k1 ^ UINT32_C(0x1BD11BDA);
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t a = high[i] + k0;
        uint32_t b = low[i] + k1;
        GROUP(13, 15, 26, 6, k1, k2, 1);
        GROUP(17, 29, 16, 24, k2, k0, 2);
        GROUP(13, 15, 26, 6, k0, k1, 3);
        GROUP(17, 29, 16, 24, k1, k2, 4);
        GROUP(13, 15, 26, 6, k2, k0, 5);
        first[i] = a;
        second[i] = b;
    }
}

/* random_words(k0, k1, high, low, first, second): the key, the counters, and where their words go. The last four are
   contiguous buffers of uint32 of one length. */
static PyObject *random_words(PyObject *module, PyObject *args)
{
    unsigned int k0, k1;
    Py_buffer high, low, first, second;
    if (!PyArg_ParseTuple(args, "IIy*y*w*w*", &k0, &k1, &high, &low, &first, &second))
        return NULL;
    Py_ssize_t count = first.len / 4;
    PyObject *result = NULL;
    if (first.len % 4 || high.len != first.len || low.len != first.len || second.len != first.len)
        PyErr_SetString(PyExc_ValueError, "random_words: the buffers differ in length");
    else {
        if (count < MIN_WITHOUT_LOCK)
            compute(k0, k1, high.buf, low.buf, first.buf, second.buf, count);
        else {
            Py_BEGIN_ALLOW_THREADS
            compute(k0, k1, high.buf, low.buf, first.buf, second.buf, count);
            Py_END_ALLOW_THREADS
        }
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&high);
    PyBuffer_Release(&low);
    PyBuffer_Release(&first);
    PyBuffer_Release(&second);
    return result;
}

static PyMethodDef methods[] = {
    {"random_words", random_words, METH_VARARGS, "The two words of each counter under a key."},
    {NULL},
};

int paddle_jax_add_random_words(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
