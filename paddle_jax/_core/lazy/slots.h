/* The slots of Python classes at their offsets in an object, for the C files of the extension module. */

#ifndef PADDLE_JAX_SLOTS_H
#define PADDLE_JAX_SLOTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stdbool.h>

typedef struct {
    const char *owner; /* key of the class in the dict that a setup gets */
    const char *name;
    Py_ssize_t *offset;
} Slot;

/* How a step ended: ELSEWHERE is not the usual case, FAILED has an exception. */
typedef enum { DONE, ELSEWHERE, FAILED } Outcome;

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

static inline void set_slot(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    PyObject *old = SLOT(object, offset);
    SLOT(object, offset) = Py_NewRef(value);
    Py_XDECREF(old);
}

/* In recorder.c: */

/* A new object of a class, as `object.__new__` makes it. */
PyObject *paddle_jax_new_object(PyTypeObject *type);

/* Reads where the members of classes are; 0 where all is as expected. */
int paddle_jax_read_offsets(PyObject *classes, const Slot *slots, size_t count);

/* Reads a class; 0 where it is one. */
int paddle_jax_read_class(PyObject *classes, const char *name, PyTypeObject **type);

/* In interpreter.c: */

/* Adds its functions to the extension module; 0 where all went well. */
int paddle_jax_add_interpreter(PyObject *module);

/* In random_words.c: */

/* As paddle_jax_add_interpreter. */
int paddle_jax_add_random_words(PyObject *module);

/* The prefix keeps these apart from the symbols of other libraries. */
#define new_object paddle_jax_new_object
#define read_offsets paddle_jax_read_offsets
#define read_class paddle_jax_read_class

#endif
