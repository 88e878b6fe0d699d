/* `fast_path.py` in C: `run(kernel, x0)` to `run(kernel, x0, x1, x2)` record an operation as the Python code
   there does, step by step. Whatever is not the usual case goes to `dispatch.run`.

   The classes stay Python classes. Their `__slots__` lie at fixed offsets in an object, which Python's slot
   descriptors know. `setup` reads the offsets once and refuses a class that lacks one.

   Python code runs in `add_leaf`, `register_view`, `next_serial`, and wherever an object is allocated or given
   up: a garbage collection may record further operations. So each object that is used afterwards is owned here,
   and an operation is committed by one append before anything is allocated. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stdbool.h>

#define INTERFACE 1 /* as in fast_path.py, which refuses a module that was built from other source */
#define MAX_OPERANDS 3
#define MAX_CLASSES 8

/* One slot of a class: where the member lies in its objects. */
static Py_ssize_t context_segment, context_grad;
static Py_ssize_t segment_recording, segment_ops, segment_limit, segment_leaf_positions, segment_results;
static Py_ssize_t signature_container, signature_out_avals, signature_gradient_mask, signature_unread;
static Py_ssize_t lazy_aval, lazy_array, lazy_segment, lazy_position;
static Py_ssize_t tensor_raw, tensor_idx, tensor_version, tensor_alias, tensor_grad, tensor_hooks, tensor_name,
    tensor_persistable, tensor_node, tensor_stop;
static Py_ssize_t node_kernel, node_values, node_n_out, node_segment, node_position, node_hooks,
    node_zero_grad_sources, node_serial, node_diff, node_edges;

static const struct {
    const char *owner; /* key of the class in the dict that `setup` gets */
    const char *name;
    Py_ssize_t *offset;
} SLOTS[] = {
    {"Context", "segment", &context_segment},
    {"Context", "grad", &context_grad},
    {"Segment", "recording", &segment_recording},
    {"Segment", "ops", &segment_ops},
    {"Segment", "limit", &segment_limit},
    {"Segment", "leaf_positions", &segment_leaf_positions},
    {"Segment", "results", &segment_results},
    {"OpSignature", "container", &signature_container},
    {"OpSignature", "out_avals", &signature_out_avals},
    {"OpSignature", "gradient_mask", &signature_gradient_mask},
    {"OpSignature", "unread", &signature_unread},
    {"LazyArray", "aval", &lazy_aval},
    {"LazyArray", "array", &lazy_array},
    {"LazyArray", "segment", &lazy_segment},
    {"LazyArray", "position", &lazy_position},
    {"Tensor", "_raw", &tensor_raw},
    {"Tensor", "_idx", &tensor_idx},
    {"Tensor", "_version", &tensor_version},
    {"Tensor", "_alias", &tensor_alias},
    {"Tensor", "_grad", &tensor_grad},
    {"Tensor", "_hooks", &tensor_hooks},
    {"Tensor", "_name", &tensor_name},
    {"Tensor", "_persistable", &tensor_persistable},
    {"Tensor", "_node", &tensor_node},
    {"Tensor", "_stop", &tensor_stop},
    {"Node", "kernel", &node_kernel},
    {"Node", "values", &node_values},
    {"Node", "n_out", &node_n_out},
    {"Node", "segment", &node_segment},
    {"Node", "position", &node_position},
    {"Node", "hooks", &node_hooks},
    {"Node", "zero_grad_sources", &node_zero_grad_sources},
    {"Node", "serial", &node_serial},
    {"Node", "diff", &node_diff},
    {"Node", "edges", &node_edges},
};

/* What `setup` has been given. */
static PyTypeObject *Context, *Segment, *OpSignature, *LazyArray, *Tensor, *Node;
static PyTypeObject *tensor_classes[MAX_CLASSES]; /* the classes of operands: Tensor and subclasses like it */
static Py_ssize_t tensor_class_count;
static PyObject *local, *dispatch_run, *add_leaf, *register_view, *next_serial, *MultiDevice;

/* Made once. */
static PyObject *zero, *one, *no_arguments;
static PyObject *name_ctx, *name_signatures, *name_view, *name_placed, *name_in_use;
static PyObject *diffs[1 << MAX_OPERANDS]; /* for each set of operands, as bits, the tuple of their indices */

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

static void set_slot(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    PyObject *old = SLOT(object, offset);
    SLOT(object, offset) = Py_NewRef(value);
    Py_XDECREF(old);
}

/* A new object of a class, as `object.__new__` makes it. */
static PyObject *new_object(PyTypeObject *type)
{
    return PyBaseObject_Type.tp_new(type, no_arguments, NULL);
}

static bool is_tensor(PyObject *object)
{
    for (Py_ssize_t i = 0; i < tensor_class_count; i++) {
        if (Py_TYPE(object) == tensor_classes[i])
            return true;
    }
    return false;
}

/* One call: everything in it is owned, or NULL. */
typedef struct {
    PyObject *kernel;
    PyObject *const *tensors; /* borrowed from the caller of `run` */
    int count;
    PyObject *context, *segment, *signature, *ops;
    PyObject *values[MAX_OPERANDS];
    PyObject *position, *out;
} Call;

/* How a step of a call ended. */
typedef enum { DONE, ELSEWHERE, FAILED } Outcome;

static void release(Call *call)
{
    Py_CLEAR(call->context);
    Py_CLEAR(call->segment);
    Py_CLEAR(call->signature);
    Py_CLEAR(call->ops);
    Py_CLEAR(call->position);
    Py_CLEAR(call->out);
    for (int i = 0; i < call->count; i++)
        Py_CLEAR(call->values[i]);
}

/* Finds the thread's segment and the signature of the call. */
static Outcome find_signature(Call *call)
{
    call->context = PyObject_GetAttr(local, name_ctx);
    if (call->context == NULL)
        return FAILED;
    if (Py_TYPE(call->context) != Context)
        return ELSEWHERE;
    PyObject *segment = SLOT(call->context, context_segment);
    if (segment == NULL || Py_TYPE(segment) != Segment)
        return ELSEWHERE;
    call->segment = Py_NewRef(segment);
    PyObject *avals = PyTuple_New(call->count);
    if (avals == NULL)
        return FAILED;
    for (int i = 0; i < call->count; i++) {
        PyObject *value = is_tensor(call->tensors[i]) ? SLOT(call->tensors[i], tensor_raw) : NULL;
        PyObject *aval = value != NULL && Py_TYPE(value) == LazyArray ? SLOT(value, lazy_aval) : NULL;
        if (aval == NULL) {
            Py_DECREF(avals);
            return ELSEWHERE;
        }
        call->values[i] = Py_NewRef(value);
        PyTuple_SET_ITEM(avals, i, Py_NewRef(aval));
    }
    PyObject *signatures = PyObject_GetAttr(call->kernel, name_signatures);
    if (signatures == NULL) {
        Py_DECREF(avals);
        return FAILED;
    }
    PyObject *signature = PyDict_CheckExact(signatures) ? PyDict_GetItemWithError(signatures, avals) : NULL;
    call->signature = Py_XNewRef(signature);
    Py_DECREF(signatures);
    Py_DECREF(avals);
    if (signature == NULL)
        return PyErr_Occurred() ? FAILED : ELSEWHERE;
    if (Py_TYPE(signature) != OpSignature || SLOT(signature, signature_container) != Py_None)
        return ELSEWHERE;
    return DONE;
}

/* The position of an operand in the segment, a new reference: None where it has none. */
static PyObject *position_of(Call *call, PyObject *places, PyObject *value)
{
    if (SLOT(value, lazy_array) == Py_None) {
        if (SLOT(value, lazy_segment) != call->segment)
            return Py_NewRef(Py_None);
        return Py_XNewRef(SLOT(value, lazy_position));
    }
    PyObject *known = PyDict_GetItemWithError(places, value);
    if (known != NULL)
        return Py_NewRef(known);
    if (PyErr_Occurred())
        return NULL;
    PyObject *arguments[] = {call->segment, value};
    return PyObject_Vectorcall(add_leaf, arguments, 2, NULL);
}

/* Appends the operation to the segment. `call->segment` counts as recording. */
static Outcome commit(Call *call)
{
    PyObject *limit = SLOT(call->segment, segment_limit);
    PyObject *places = SLOT(call->segment, segment_leaf_positions);
    call->ops = Py_XNewRef(SLOT(call->segment, segment_ops));
    if (call->ops == NULL || !PyList_CheckExact(call->ops) || places == NULL || !PyDict_CheckExact(places))
        return ELSEWHERE;
    if (PyList_GET_SIZE(call->ops) >= PyLong_AsSsize_t(limit))
        return PyErr_Occurred() ? FAILED : ELSEWHERE;
    PyObject *entry = PyTuple_New(call->count + 1);
    if (entry == NULL)
        return FAILED;
    PyTuple_SET_ITEM(entry, 0, Py_NewRef(call->signature));
    Py_INCREF(places);
    Outcome outcome = DONE;
    for (int i = 0; i < call->count && outcome == DONE; i++) {
        PyObject *position = position_of(call, places, call->values[i]);
        if (position == NULL)
            outcome = PyErr_Occurred() ? FAILED : ELSEWHERE;
        else if (position == Py_None)
            outcome = ELSEWHERE;
        if (outcome == DONE)
            PyTuple_SET_ITEM(entry, i + 1, position);
        else
            Py_XDECREF(position);
    }
    Py_DECREF(places);
    if (outcome == DONE && PyList_Append(call->ops, entry) < 0)
        outcome = FAILED;
    Py_ssize_t number = PyList_GET_SIZE(call->ops) - 1;
    Py_DECREF(entry);
    if (outcome != DONE)
        return outcome;
    call->position = PyLong_FromSsize_t(number);
    call->out = call->position == NULL ? NULL : new_object(LazyArray);
    if (call->out == NULL)
        return FAILED;
    set_slot(call->out, lazy_aval, SLOT(call->signature, signature_out_avals));
    set_slot(call->out, lazy_array, Py_None);
    set_slot(call->out, lazy_segment, call->segment);
    set_slot(call->out, lazy_position, call->position);
    PyObject *results = SLOT(call->segment, segment_results);
    if (results == NULL || !PyList_CheckExact(results))
        return ELSEWHERE;
    return PyList_Append(results, call->out) < 0 ? FAILED : DONE;
}

/* The operands that a gradient flows to, as bits; -1 with an error. */
static long gradient_flow(Call *call)
{
    PyObject *grad = SLOT(call->context, context_grad);
    int records = grad == NULL ? 0 : PyObject_IsTrue(grad);
    if (records <= 0)
        return records;
    long flow = PyLong_AsLong(SLOT(call->signature, signature_gradient_mask));
    for (int i = 0; i < call->count && flow > 0; i++) {
        PyObject *stop = SLOT(call->tensors[i], tensor_stop);
        int stops = stop == NULL ? 1 : PyObject_IsTrue(stop);
        if (stops < 0)
            return -1;
        if (stops)
            flow &= ~(1L << i);
    }
    return flow;
}

/* The edges of a node: for each operand that a gradient flows to (its node or itself, output index). */
static PyObject *edges_for(Call *call, long flow)
{
    PyObject *edges = PyTuple_New(PyTuple_GET_SIZE(diffs[flow]));
    Py_ssize_t next = 0;
    for (int i = 0; edges != NULL && i < call->count; i++) {
        if (!(flow >> i & 1))
            continue;
        PyObject *tensor = call->tensors[i];
        PyObject *source = SLOT(tensor, tensor_node);
        if (source == NULL || source == Py_None)
            source = tensor;
        PyObject *idx = SLOT(tensor, tensor_idx);
        PyObject *edge = idx == NULL ? PyErr_Format(PyExc_AttributeError, "_idx") : PyTuple_Pack(2, source, idx);
        if (edge == NULL)
            Py_CLEAR(edges);
        else
            PyTuple_SET_ITEM(edges, next++, edge);
    }
    return edges;
}

/* Whether arrays are on several devices, where nodes keep all operands; -1 with an error. */
static int uses_several_devices(void)
{
    PyObject *const names[] = {name_placed, name_in_use};
    for (int i = 0; i < 2; i++) {
        PyObject *flag = PyObject_GetAttr(MultiDevice, names[i]);
        int is_set = flag == NULL ? -1 : PyObject_IsTrue(flag);
        Py_XDECREF(flag);
        if (is_set != 0)
            return is_set;
    }
    return 0;
}

/* The operands that a node keeps, as `drop_unread` in node.py: a stand-in for each that the gradient does not
   read. */
static PyObject *kept_values(Call *call, long flow)
{
    PyObject *unread = SLOT(call->signature, signature_unread);
    PyObject *stand_ins = NULL;
    if (unread != NULL && PyDict_CheckExact(unread)) {
        int several = uses_several_devices();
        if (several < 0)
            return NULL;
        if (!several)
            stand_ins = PyDict_GetItemWithError(unread, diffs[flow]);
        if (stand_ins == NULL && PyErr_Occurred())
            return NULL;
        if (stand_ins == Py_None || (stand_ins != NULL && !PyTuple_CheckExact(stand_ins)))
            stand_ins = NULL;
    }
    Py_XINCREF(stand_ins);
    PyObject *values = PyTuple_New(call->count);
    for (int i = 0; values != NULL && i < call->count; i++) {
        PyObject *value = call->values[i];
        if (stand_ins != NULL && PyTuple_GET_ITEM(stand_ins, i) != Py_None)
            value = PyTuple_GET_ITEM(stand_ins, i);
        PyTuple_SET_ITEM(values, i, Py_NewRef(value));
    }
    Py_XDECREF(stand_ins);
    return values;
}

static PyObject *new_node(Call *call, long flow)
{
    PyObject *values = kept_values(call, flow);
    PyObject *edges = values == NULL ? NULL : edges_for(call, flow);
    PyObject *node = edges == NULL ? NULL : new_object(Node);
    PyObject *serial = node == NULL ? NULL : PyObject_CallNoArgs(next_serial);
    if (serial != NULL) {
        set_slot(node, node_kernel, call->kernel);
        set_slot(node, node_values, values);
        set_slot(node, node_n_out, one);
        set_slot(node, node_segment, call->segment);
        set_slot(node, node_position, call->position);
        set_slot(node, node_hooks, Py_None);
        set_slot(node, node_zero_grad_sources, Py_None);
        set_slot(node, node_serial, serial);
        set_slot(node, node_diff, diffs[flow]);
        set_slot(node, node_edges, edges);
    } else {
        Py_CLEAR(node);
    }
    Py_XDECREF(values);
    Py_XDECREF(edges);
    Py_XDECREF(serial);
    return node;
}

/* Notes that a result is a view of the first operand; 0 where all went well. */
static int note_view(Call *call, PyObject *result)
{
    PyObject *view = PyObject_GetAttr(call->kernel, name_view);
    if (view == NULL)
        return -1;
    Py_DECREF(view);
    if (view == Py_None)
        return 0;
    PyObject *others = PyTuple_New(call->count - 1);
    if (others == NULL)
        return -1;
    for (int i = 1; i < call->count; i++)
        PyTuple_SET_ITEM(others, i - 1, Py_NewRef(call->tensors[i]));
    PyObject *arguments[] = {result, call->tensors[0], call->kernel, others};
    PyObject *nothing = PyObject_Vectorcall(register_view, arguments, 4, NULL);
    Py_DECREF(others);
    Py_XDECREF(nothing);
    return nothing == NULL ? -1 : 0;
}

/* The result of an operation that is committed. */
static PyObject *wrap_result(Call *call)
{
    PyObject *result = new_object(Tensor);
    if (result == NULL)
        return NULL;
    set_slot(result, tensor_raw, call->out);
    set_slot(result, tensor_idx, zero);
    set_slot(result, tensor_version, zero);
    set_slot(result, tensor_alias, Py_None);
    set_slot(result, tensor_grad, Py_None);
    set_slot(result, tensor_hooks, Py_None);
    set_slot(result, tensor_name, Py_None);
    set_slot(result, tensor_persistable, Py_False);
    if (note_view(call, result) < 0)
        goto failed;
    long flow = gradient_flow(call);
    if (flow == 0) {
        set_slot(result, tensor_node, Py_None);
        set_slot(result, tensor_stop, Py_True);
        return result;
    }
    PyObject *node = flow < 0 ? NULL : new_node(call, flow);
    if (node == NULL)
        goto failed;
    set_slot(result, tensor_node, node);
    set_slot(result, tensor_stop, Py_False);
    Py_DECREF(node);
    return result;
failed:
    Py_DECREF(result);
    return NULL;
}

static PyObject *run_elsewhere(PyObject *const *arguments, int count)
{
    PyObject *tensors = PyTuple_New(count);
    if (tensors == NULL)
        return NULL;
    for (int i = 0; i < count; i++)
        PyTuple_SET_ITEM(tensors, i, Py_NewRef(arguments[i + 1]));
    PyObject *both[] = {arguments[0], tensors};
    PyObject *result = PyObject_Vectorcall(dispatch_run, both, 2, NULL);
    Py_DECREF(tensors);
    return result;
}

static PyObject *run(PyObject *module, PyObject *const *arguments, Py_ssize_t length)
{
    if (length < 2 || length > MAX_OPERANDS + 1) {
        PyErr_Format(PyExc_TypeError, "run: got %zd arguments; give a kernel and one to three Tensors", length);
        return NULL;
    }
    Call call = {.kernel = arguments[0], .tensors = arguments + 1, .count = (int)length - 1};
    PyObject *result = NULL;
    Outcome outcome = find_signature(&call);
    if (outcome == DONE) {
        set_slot(call.segment, segment_recording, Py_True);
        outcome = commit(&call);
        set_slot(call.segment, segment_recording, Py_False);
    }
    if (outcome == DONE)
        result = wrap_result(&call);
    release(&call);
    if (outcome == ELSEWHERE)
        return run_elsewhere(arguments, (int)length - 1);
    return result;
}

/* Reads where the members of a class lie; 0 where all is as expected. */
static int read_offsets(PyObject *classes)
{
    for (size_t i = 0; i < sizeof SLOTS / sizeof *SLOTS; i++) {
        PyObject *owner = PyDict_GetItemString(classes, SLOTS[i].owner);
        PyObject *member = owner == NULL ? NULL : PyObject_GetAttrString(owner, SLOTS[i].name);
        if (member == NULL || Py_TYPE(member) != &PyMemberDescr_Type) {
            Py_XDECREF(member);
            PyErr_Format(PyExc_TypeError, "fast_path: %s has no slot %s", SLOTS[i].owner, SLOTS[i].name);
            return -1;
        }
        *SLOTS[i].offset = ((PyMemberDescrObject *)member)->d_member->offset;
        Py_DECREF(member);
    }
    return 0;
}

static int read_classes(PyObject *classes)
{
    const struct {
        const char *name;
        PyTypeObject **type;
    } wanted[] = {{"Context", &Context},     {"Segment", &Segment}, {"OpSignature", &OpSignature},
                  {"LazyArray", &LazyArray}, {"Tensor", &Tensor},   {"Node", &Node}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        PyObject *type = PyDict_GetItemString(classes, wanted[i].name);
        if (type == NULL || !PyType_Check(type)) {
            PyErr_Format(PyExc_TypeError, "fast_path: the class %s is missing", wanted[i].name);
            return -1;
        }
        *wanted[i].type = (PyTypeObject *)Py_NewRef(type);
    }
    return read_offsets(classes);
}

static PyObject *setup(PyObject *module, PyObject *arguments)
{
    PyObject *classes, *operand_classes;
    if (!PyArg_ParseTuple(arguments, "O!O!OOOOOO", &PyDict_Type, &classes, &PyTuple_Type, &operand_classes, &local,
                          &dispatch_run, &add_leaf, &register_view, &next_serial, &MultiDevice))
        return NULL;
    PyObject *const given[] = {local, dispatch_run, add_leaf, register_view, next_serial, MultiDevice};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        Py_INCREF(given[i]);
    if (read_classes(classes) < 0)
        return NULL;
    tensor_class_count = PyTuple_GET_SIZE(operand_classes);
    if (tensor_class_count > MAX_CLASSES) {
        PyErr_SetString(PyExc_TypeError, "fast_path: too many classes of operands");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < tensor_class_count; i++) {
        PyObject *type = PyTuple_GET_ITEM(operand_classes, i);
        if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, Tensor)) {
            PyErr_SetString(PyExc_TypeError, "fast_path: operands must be Tensors");
            return NULL;
        }
        tensor_classes[i] = (PyTypeObject *)Py_NewRef(type);
    }
    Py_RETURN_NONE;
}

static int make_constants(void)
{
    zero = PyLong_FromLong(0);
    one = PyLong_FromLong(1);
    no_arguments = PyTuple_New(0);
    name_ctx = PyUnicode_InternFromString("ctx");
    name_signatures = PyUnicode_InternFromString("signatures");
    name_view = PyUnicode_InternFromString("view");
    name_placed = PyUnicode_InternFromString("placed");
    name_in_use = PyUnicode_InternFromString("in_use");
    for (long flow = 0; flow < 1 << MAX_OPERANDS; flow++) {
        PyObject *indices = PyList_New(0);
        for (long i = 0; indices != NULL && i < MAX_OPERANDS; i++) {
            PyObject *index = flow >> i & 1 ? PyLong_FromLong(i) : NULL;
            if (index != NULL)
                PyList_Append(indices, index);
            Py_XDECREF(index);
        }
        diffs[flow] = indices == NULL ? NULL : PyList_AsTuple(indices);
        Py_XDECREF(indices);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, "run(kernel, x0[, x1[, x2]]): records an operation."},
    {"setup", setup, METH_VARARGS, "setup(classes, operand_classes, local, run, ...): called once, before `run`."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_fast_path", .m_doc = "See fast_path.py.", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit__fast_path(void)
{
    if (make_constants() < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddIntConstant(module, "INTERFACE", INTERFACE) < 0)
        Py_CLEAR(module);
    return module;
}
