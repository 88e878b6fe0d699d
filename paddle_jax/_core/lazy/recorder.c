/* What records an operation, in C. `record` does what `segment.py` does in Python, and `run(kernel, x0)` to
   `run(kernel, x0, x1, x2)` what `execution/fast_path.py` does, step by step. Whatever is not the usual case goes
   to the Python code. `follow` is that of `tape/replay.py`.

   The classes stay Python classes. Their `__slots__` are at fixed offsets in an object, which Python's slot
   descriptors know. The functions `setup_...` read the offsets once and refuse a class that lacks one.

   Python code runs in the functions that are called, and wherever an object is allocated or given up: a garbage
   collection may record further operations. So each object that is used afterwards is owned here, and an
   operation is committed by one append before anything is allocated. */

#include "slots.h"

#define INTERFACE 12 /* as in recorder.py, which refuses a module that was built from other source */
#define MAX_OPERANDS 5 /* as in fast_path.py */
#define MAX_CLASSES 8
#define OUTPUT_SHIFT 20 /* as in positions.py */
#define NEW_NODE -1     /* as _NEW and _LEAF in replay.py */
#define NEW_LEAF -2

/* Where the members of classes are in their objects. */
static Py_ssize_t context_segment, context_grad;
static Py_ssize_t segment_recording, segment_ops, segment_limit, segment_leaf_positions, segment_results,
    segment_leaves, segment_device, segment_allowance, segment_elsewhere;
static Py_ssize_t aval_nbytes;
static Py_ssize_t signature_container, signature_out_avals, signature_gradient_mask, signature_unread;
static Py_ssize_t lazy_aval, lazy_array, lazy_segment, lazy_position, lazy_device;
static Py_ssize_t tensor_raw, tensor_idx, tensor_version, tensor_alias, tensor_grad, tensor_hooks, tensor_name,
    tensor_persistable, tensor_node, tensor_stop;
static Py_ssize_t node_kernel, node_values, node_n_out, node_segment, node_position, node_hooks,
    node_zero_grad_sources, node_serial, node_diff, node_edges;

static const Slot RECORD_SLOTS[] = {
    {"Context", "segment", &context_segment},
    {"Segment", "recording", &segment_recording},
    {"Segment", "ops", &segment_ops},
    {"Segment", "limit", &segment_limit},
    {"Segment", "leaf_positions", &segment_leaf_positions},
    {"Segment", "results", &segment_results},
    {"Segment", "leaves", &segment_leaves},
    {"Segment", "device", &segment_device},
    {"Segment", "allowance", &segment_allowance},
    {"Segment", "elsewhere", &segment_elsewhere},
    {"Aval", "nbytes", &aval_nbytes},
    {"OpSignature", "container", &signature_container},
    {"OpSignature", "out_avals", &signature_out_avals},
    {"OpSignature", "gradient_mask", &signature_gradient_mask},
    {"OpSignature", "unread", &signature_unread},
    {"LazyArray", "aval", &lazy_aval},
    {"LazyArray", "array", &lazy_array},
    {"LazyArray", "segment", &lazy_segment},
    {"LazyArray", "position", &lazy_position},
    {"LazyArray", "device", &lazy_device},
};

static const Slot CALL_SLOTS[] = {
    {"Context", "grad", &context_grad},
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

/* What the setups have been given. */
static PyTypeObject *Context, *Segment, *Aval, *OpSignature, *LazyArray, *Tensor, *Node;
static PyObject *add_leaf, *record_slowly, *unread_device, *undecided;
static PyTypeObject *tensor_classes[MAX_CLASSES]; /* the classes of operands: Tensor and subclasses like it */
static Py_ssize_t tensor_class_count;
static PyObject *local, *dispatch_run, *register_view, *next_serial, *MultiDevice;

/* Made once. */
static PyObject *zero, *one, *no_arguments;
static PyObject *name_ctx, *name_signatures, *name_view, *name_placed, *name_in_use;
static PyObject *diffs[1 << MAX_OPERANDS]; /* for each set of operands, as bits, the tuple of their indices */

/* A new object of a class, as `object.__new__` makes it. */
PyObject *new_object(PyTypeObject *type)
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

/* An operation that is recorded. Its objects are owned, or NULL, but for kernel and values. */
typedef struct {
    PyObject *kernel;
    PyObject *const *values; /* what the operands hold; the caller owns them */
    Py_ssize_t count;
    PyObject *segment, *signature;
    PyObject *position; /* of its result, or of its first one without the number of the output */
    PyObject *out;      /* the LazyArray of its result; or the tuple or list of those of several */
} Operation;

static void release(Operation *operation)
{
    Py_CLEAR(operation->segment);
    Py_CLEAR(operation->signature);
    Py_CLEAR(operation->position);
    Py_CLEAR(operation->out);
}

/* Finds the segment of a Context and the signature of the operation. */
static Outcome find_signature(Operation *operation, PyObject *context)
{
    PyObject *segment = Py_TYPE(context) == Context ? SLOT(context, context_segment) : NULL;
    if (segment == NULL || Py_TYPE(segment) != Segment)
        return ELSEWHERE;
    operation->segment = Py_NewRef(segment);
    PyObject *avals = PyTuple_New(operation->count);
    if (avals == NULL)
        return FAILED;
    for (Py_ssize_t i = 0; i < operation->count; i++) {
        PyObject *value = operation->values[i];
        PyObject *aval = Py_TYPE(value) == LazyArray ? SLOT(value, lazy_aval) : NULL;
        if (aval == NULL || Py_TYPE(aval) != Aval) {
            Py_DECREF(avals);
            return ELSEWHERE;
        }
        PyTuple_SET_ITEM(avals, i, Py_NewRef(aval));
    }
    PyObject *signatures = PyObject_GetAttr(operation->kernel, name_signatures);
    if (signatures == NULL) {
        Py_DECREF(avals);
        return FAILED;
    }
    PyObject *signature = PyDict_CheckExact(signatures) ? PyDict_GetItemWithError(signatures, avals) : NULL;
    operation->signature = Py_XNewRef(signature);
    Py_DECREF(signatures);
    Py_DECREF(avals);
    if (signature == NULL)
        return PyErr_Occurred() ? FAILED : ELSEWHERE;
    return Py_TYPE(signature) == OpSignature ? DONE : ELSEWHERE;
}

/* Appends a leaf to a segment and returns its position, a new reference. */
static PyObject *append_leaf(PyObject *leaves, PyObject *value)
{
    if (PyList_Append(leaves, value) < 0)
        return NULL;
    return PyLong_FromSsize_t(-PyList_GET_SIZE(leaves));
}

/* Whether a leaf is on the device of the segment, which the first leaf decides where all arrays are on one; -1 with an
   exception. */
static int is_on_device(PyObject *segment, PyObject *device)
{
    if (device == SLOT(segment, segment_device))
        return 1;
    if (SLOT(segment, segment_device) != undecided || MultiDevice == NULL)
        return 0;
    PyObject *placed = PyObject_GetAttr(MultiDevice, name_placed);
    int is_placed = placed == NULL ? -1 : PyObject_IsTrue(placed);
    Py_XDECREF(placed);
    if (is_placed == 0)
        set_slot(segment, segment_device, device);
    return is_placed < 0 ? -1 : !is_placed;
}

/* As `add_leaf` in segment.py, which the unusual cases go to. */
static PyObject *position_of_leaf(PyObject *segment, PyObject *places, PyObject *value)
{
    PyObject *leaves = SLOT(segment, segment_leaves);
    PyObject *device = SLOT(value, lazy_device);
    bool is_usual = leaves != NULL && PyList_CheckExact(leaves) && device != NULL;
    bool is_number = is_usual && PyTuple_CheckExact(SLOT(value, lazy_array));
    int is_there = is_usual && !is_number ? is_on_device(segment, device) : 0;
    if (is_there < 0)
        return NULL;
    if (is_number) {
        /* Host numbers have a new position at each use. */
        if (SLOT(segment, segment_elsewhere) == Py_False && device != unread_device)
            return append_leaf(leaves, value);
    } else if (is_there) {
        long long size = PyLong_AsLongLong(SLOT(SLOT(value, lazy_aval), aval_nbytes));
        long long allowance = PyLong_AsLongLong(SLOT(segment, segment_allowance)) - size;
        if (PyErr_Occurred())
            return NULL;
        if (allowance >= 0) {
            PyObject *left = PyLong_FromLongLong(allowance);
            PyObject *position = left == NULL ? NULL : append_leaf(leaves, value);
            if (position != NULL) {
                set_slot(segment, segment_allowance, left);
                if (PyDict_SetItem(places, value, position) < 0)
                    Py_CLEAR(position);
            }
            Py_XDECREF(left);
            return position;
        }
    }
    PyObject *arguments[] = {segment, value};
    return PyObject_Vectorcall(add_leaf, arguments, 2, NULL);
}

/* The position of an operand in the segment, a new reference: None where it has none. */
static PyObject *position_of(PyObject *segment, PyObject *places, PyObject *value)
{
    PyObject *array = SLOT(value, lazy_array);
    if (array == NULL || array == Py_None) {
        if (SLOT(value, lazy_segment) != segment)
            return Py_NewRef(Py_None);
        return Py_XNewRef(SLOT(value, lazy_position));
    }
    PyObject *known = PyDict_GetItemWithError(places, value);
    if (known != NULL)
        return Py_NewRef(known);
    if (PyErr_Occurred())
        return NULL;
    return position_of_leaf(segment, places, value);
}

/* The tuple of an operation: its signature and the positions of its operands. */
static Outcome make_entry(Operation *operation, PyObject *places, PyObject **entry)
{
    *entry = PyTuple_New(operation->count + 1);
    if (*entry == NULL)
        return FAILED;
    PyTuple_SET_ITEM(*entry, 0, Py_NewRef(operation->signature));
    for (Py_ssize_t i = 0; i < operation->count; i++) {
        PyObject *position = position_of(operation->segment, places, operation->values[i]);
        if (position == NULL)
            return PyErr_Occurred() ? FAILED : ELSEWHERE;
        PyTuple_SET_ITEM(*entry, i + 1, position);
        if (position == Py_None)
            return ELSEWHERE;
    }
    return DONE;
}

/* A LazyArray of a result that is pending. */
static PyObject *new_pending(Operation *operation, PyObject *aval, PyObject *position)
{
    PyObject *lazy = new_object(LazyArray);
    if (lazy != NULL) {
        set_slot(lazy, lazy_aval, aval);
        set_slot(lazy, lazy_array, Py_None);
        set_slot(lazy, lazy_segment, operation->segment);
        set_slot(lazy, lazy_position, position);
    }
    return lazy;
}

/* The list of the LazyArrays of several results. */
static PyObject *new_results(Operation *operation, PyObject *avals, Py_ssize_t number)
{
    PyObject *results = PyList_New(0);
    for (Py_ssize_t i = 0; results != NULL && i < PyList_GET_SIZE(avals); i++) {
        PyObject *position = PyLong_FromSsize_t(number + ((i + 1) << OUTPUT_SHIFT));
        PyObject *lazy = position == NULL ? NULL : new_pending(operation, PyList_GET_ITEM(avals, i), position);
        if (lazy == NULL || PyList_Append(results, lazy) < 0)
            Py_CLEAR(results);
        Py_XDECREF(position);
        Py_XDECREF(lazy);
    }
    return results;
}

/* Makes what stands for the results of operation `number`, and adds it to those of the segment. */
static Outcome add_results(Operation *operation, Py_ssize_t number)
{
    PyObject *container = SLOT(operation->signature, signature_container);
    PyObject *avals = SLOT(operation->signature, signature_out_avals);
    bool is_single = container == Py_None;
    operation->position = PyLong_FromSsize_t(number);
    if (operation->position == NULL)
        return FAILED;
    if (is_single)
        operation->out = new_pending(operation, avals, operation->position);
    else
        operation->out = new_results(operation, avals, number);
    if (operation->out == NULL)
        return FAILED;
    PyObject *results = SLOT(operation->segment, segment_results);
    if (results == NULL || !PyList_CheckExact(results))
        return ELSEWHERE;
    if (is_single)
        return PyList_Append(results, operation->out) < 0 ? FAILED : DONE;
    Py_ssize_t end = PyList_GET_SIZE(results);
    if (PyList_SetSlice(results, end, end, operation->out) < 0)
        return FAILED;
    if (container != (PyObject *)&PyList_Type)
        Py_SETREF(operation->out, PyList_AsTuple(operation->out));
    return operation->out == NULL ? FAILED : DONE;
}

/* Appends the operation to the segment, which counts as recording. */
static Outcome append(Operation *operation)
{
    PyObject *segment = operation->segment;
    PyObject *ops = SLOT(segment, segment_ops);
    PyObject *places = SLOT(segment, segment_leaf_positions);
    PyObject *avals = SLOT(operation->signature, signature_out_avals);
    bool is_single = SLOT(operation->signature, signature_container) == Py_None;
    if (ops == NULL || !PyList_CheckExact(ops) || places == NULL || !PyDict_CheckExact(places) || avals == NULL ||
        (!is_single && !PyList_CheckExact(avals)))
        return ELSEWHERE;
    if (PyList_GET_SIZE(ops) >= PyLong_AsSsize_t(SLOT(segment, segment_limit)))
        return PyErr_Occurred() ? FAILED : ELSEWHERE;
    Py_INCREF(ops);
    Py_INCREF(places);
    PyObject *entry = NULL;
    Outcome outcome = make_entry(operation, places, &entry);
    if (outcome == DONE && PyList_Append(ops, entry) < 0)
        outcome = FAILED;
    /* Before anything is allocated. */
    Py_ssize_t number = PyList_GET_SIZE(ops) - 1;
    Py_DECREF(places);
    Py_DECREF(ops);
    Py_XDECREF(entry);
    return outcome == DONE ? add_results(operation, number) : outcome;
}

/* Records the operation whose signature was found. In a finalizer, another operation may be in the middle of its
   recording. The mark of that one stays. */
static Outcome commit(Operation *operation)
{
    bool is_nested = SLOT(operation->segment, segment_recording) == Py_True;
    set_slot(operation->segment, segment_recording, Py_True);
    Outcome outcome = append(operation);
    if (!is_nested)
        set_slot(operation->segment, segment_recording, Py_False);
    return outcome;
}

/* record(context, kernel, values) */
static PyObject *record(PyObject *module, PyObject *const *arguments, Py_ssize_t length)
{
    if (length != 3) {
        PyErr_Format(PyExc_TypeError, "record: got %zd arguments; give a Context, a kernel and values", length);
        return NULL;
    }
    PyObject *values = PySequence_Tuple(arguments[2]);
    if (values == NULL)
        return NULL;
    Operation operation = {
        .kernel = arguments[1], .values = &PyTuple_GET_ITEM(values, 0), .count = PyTuple_GET_SIZE(values)};
    Outcome outcome = find_signature(&operation, arguments[0]);
    if (outcome == DONE)
        outcome = commit(&operation);
    PyObject *result = outcome == DONE ? Py_NewRef(operation.out) : NULL;
    release(&operation);
    Py_DECREF(values);
    if (outcome == ELSEWHERE)
        return PyObject_Vectorcall(record_slowly, arguments, 3, NULL);
    return result;
}

/* A call on Tensors: `operation.values` are what they hold, and owned. */
typedef struct {
    Operation operation;
    PyObject *context;
    PyObject *const *tensors; /* borrowed from the caller of `run` */
    PyObject *values[MAX_OPERANDS];
} Call;

/* The operands that a gradient flows to, as bits; -1 with an error. */
static long gradient_flow(Call *call)
{
    PyObject *grad = SLOT(call->context, context_grad);
    int records = grad == NULL ? 0 : PyObject_IsTrue(grad);
    if (records <= 0)
        return records;
    long flow = PyLong_AsLong(SLOT(call->operation.signature, signature_gradient_mask));
    for (int i = 0; i < call->operation.count && flow > 0; i++) {
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
    for (int i = 0; edges != NULL && i < call->operation.count; i++) {
        if (!(flow >> i & 1))
            continue;
        PyObject *tensor = call->tensors[i];
        PyObject *source = SLOT(tensor, tensor_node);
        if (source == NULL || source == Py_None)
            source = tensor;
        PyObject *idx = SLOT(tensor, tensor_idx);
        /* Owned: a garbage collection in PyTuple_Pack may change the Tensor. */
        Py_INCREF(source);
        Py_XINCREF(idx);
        PyObject *edge = idx == NULL ? PyErr_Format(PyExc_AttributeError, "_idx") : PyTuple_Pack(2, source, idx);
        Py_DECREF(source);
        Py_XDECREF(idx);
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
    PyObject *unread = SLOT(call->operation.signature, signature_unread);
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
    PyObject *values = PyTuple_New(call->operation.count);
    for (int i = 0; values != NULL && i < call->operation.count; i++) {
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
        set_slot(node, node_kernel, call->operation.kernel);
        set_slot(node, node_values, values);
        set_slot(node, node_n_out, one);
        set_slot(node, node_segment, call->operation.segment);
        set_slot(node, node_position, call->operation.position);
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
    PyObject *view = PyObject_GetAttr(call->operation.kernel, name_view);
    if (view == NULL)
        return -1;
    Py_DECREF(view);
    if (view == Py_None)
        return 0;
    PyObject *others = PyTuple_New(call->operation.count - 1);
    if (others == NULL)
        return -1;
    for (int i = 1; i < call->operation.count; i++)
        PyTuple_SET_ITEM(others, i - 1, Py_NewRef(call->tensors[i]));
    PyObject *arguments[] = {result, call->tensors[0], call->operation.kernel, others};
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
    set_slot(result, tensor_raw, call->operation.out);
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

static PyObject *run_elsewhere(PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *tensors = PyTuple_New(count);
    if (tensors == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(tensors, i, Py_NewRef(arguments[i + 1]));
    PyObject *both[] = {arguments[0], tensors};
    PyObject *result = PyObject_Vectorcall(dispatch_run, both, 2, NULL);
    Py_DECREF(tensors);
    return result;
}

/* Takes what the Tensors hold, and records the operation. */
static Outcome record_call(Call *call)
{
    Operation *operation = &call->operation;
    call->context = PyObject_GetAttr(local, name_ctx);
    if (call->context == NULL)
        return FAILED;
    for (Py_ssize_t i = 0; i < operation->count; i++) {
        call->values[i] = is_tensor(call->tensors[i]) ? Py_XNewRef(SLOT(call->tensors[i], tensor_raw)) : NULL;
        if (call->values[i] == NULL)
            return ELSEWHERE;
    }
    Outcome outcome = find_signature(operation, call->context);
    if (outcome != DONE)
        return outcome;
    if (SLOT(operation->signature, signature_container) != Py_None)
        return ELSEWHERE;
    return commit(operation);
}

/* run(kernel, x0, ...): one to MAX_OPERANDS Tensors */
static PyObject *run(PyObject *module, PyObject *const *arguments, Py_ssize_t length)
{
    if (length < 2 || length > MAX_OPERANDS + 1) {
        PyErr_Format(PyExc_TypeError, "run: got %zd arguments; give a kernel and one to five Tensors", length);
        return NULL;
    }
    Call call = {.operation = {.kernel = arguments[0], .count = length - 1}, .tensors = arguments + 1};
    call.operation.values = call.values;
    Outcome outcome = record_call(&call);
    PyObject *result = outcome == DONE ? wrap_result(&call) : NULL;
    release(&call.operation);
    Py_CLEAR(call.context);
    for (Py_ssize_t i = 0; i < MAX_OPERANDS; i++)
        Py_CLEAR(call.values[i]);
    if (outcome == ELSEWHERE)
        return run_elsewhere(arguments, length - 1);
    return result;
}

static bool is_plain(PyObject *bound)
{
    return bound == Py_None || PyLong_CheckExact(bound);
}

/* index_key(items) */
static PyObject *index_key(PyObject *module, PyObject *items)
{
    if (!PyTuple_CheckExact(items))
        Py_RETURN_NONE;
    PyObject *key = PyTuple_New(PyTuple_GET_SIZE(items));
    for (Py_ssize_t i = 0; key != NULL && i < PyTuple_GET_SIZE(items); i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        PyObject *part = NULL;
        if (is_plain(item) || item == Py_Ellipsis) {
            part = Py_NewRef(item);
        } else if (PySlice_Check(item)) {
            PySliceObject *slice = (PySliceObject *)item;
            if (is_plain(slice->start) && is_plain(slice->stop) && is_plain(slice->step))
                part = PyTuple_Pack(3, slice->start, slice->stop, slice->step);
        }
        if (part == NULL)
            Py_CLEAR(key);
        else
            PyTuple_SET_ITEM(key, i, part);
    }
    if (key == NULL && !PyErr_Occurred())
        Py_RETURN_NONE;
    return key;
}

/* Whether two slots hold the same: 1, 0, or -1 with an error. NULL equals nothing. */
static int is_same(PyObject *a, PyObject *b)
{
    if (a == NULL || b == NULL)
        return 0;
    return a == b ? 1 : PyObject_RichCompareBool(a, b, Py_EQ);
}

/* What an edge is known to lead to, borrowed; NULL where there is none of this number. */
static PyObject *known_target(PyObject *nodes, PyObject *leaves, long target)
{
    PyObject *list = target >= 0 ? nodes : leaves;
    long index = target >= 0 ? target : NEW_LEAF - 1 - target;
    return index >= 0 && index < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, index) : NULL;
}

/* Follows the edges of a node as its record says: 1, 0 where they lead elsewhere, or -1 with an error. */
static int follow_edges(PyObject *edges, PyObject *targets, PyObject *nodes, PyObject *leaves)
{
    if (edges == NULL || !PyTuple_Check(edges) || PyTuple_GET_SIZE(edges) < PyTuple_GET_SIZE(targets))
        return 0;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(targets); k++) {
        PyObject *edge = PyTuple_GET_ITEM(edges, k);
        PyObject *wanted = PyTuple_GET_ITEM(targets, k);
        if (!PyTuple_Check(edge) || PyTuple_GET_SIZE(edge) != 2)
            return 0;
        PyObject *source = PyTuple_GET_ITEM(edge, 0);
        long target = PyLong_AsLong(PyTuple_GET_ITEM(wanted, 0));
        if (target == NEW_NODE || target == NEW_LEAF) {
            if (PyList_Append(target == NEW_NODE ? nodes : leaves, source) < 0)
                return -1;
        } else if (known_target(nodes, leaves, target) != source) {
            return 0;
        }
        int is_output = is_same(PyTuple_GET_ITEM(edge, 1), PyTuple_GET_ITEM(wanted, 1));
        if (is_output <= 0)
            return is_output;
    }
    return 1;
}

/* Whether a node is that of a record, and its edges are: 1, 0, or -1 with an error. */
static int follow_node(PyObject *node, PyObject *record, PyObject *segment, PyObject *nodes, PyObject *leaves)
{
    if (!PyObject_TypeCheck(node, Node) || SLOT(node, node_segment) != segment)
        return 0;
    int is_known = is_same(SLOT(node, node_position), PyTuple_GET_ITEM(record, 0));
    if (is_known > 0)
        is_known = is_same(SLOT(node, node_diff), PyTuple_GET_ITEM(record, 1));
    if (is_known <= 0)
        return is_known;
    PyObject *edges = Py_XNewRef(SLOT(node, node_edges));
    int is_followed = follow_edges(edges, PyTuple_GET_ITEM(record, 2), nodes, leaves);
    Py_XDECREF(edges);
    return is_followed;
}

/* follow(records, root, segment) */
static PyObject *follow(PyObject *module, PyObject *arguments)
{
    PyObject *records, *root, *segment;
    if (!PyArg_ParseTuple(arguments, "O!OO", &PyTuple_Type, &records, &root, &segment))
        return NULL;
    PyObject *nodes = PyList_New(0);
    PyObject *leaves = PyList_New(0);
    int is_followed = nodes == NULL || leaves == NULL || PyList_Append(nodes, root) < 0 ? -1 : 1;
    for (Py_ssize_t i = 0; is_followed > 0 && i < PyTuple_GET_SIZE(records); i++) {
        if (i < PyList_GET_SIZE(nodes))
            is_followed =
                follow_node(PyList_GET_ITEM(nodes, i), PyTuple_GET_ITEM(records, i), segment, nodes, leaves);
        else
            is_followed = 0;
    }
    PyObject *found = NULL;
    if (is_followed > 0)
        found = PyTuple_Pack(2, nodes, leaves);
    else if (is_followed == 0)
        found = Py_NewRef(Py_None);
    Py_XDECREF(nodes);
    Py_XDECREF(leaves);
    return found;
}

/* Reads where the members of classes are; 0 where all is as expected. */
int read_offsets(PyObject *classes, const Slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PyObject *owner = PyDict_GetItemString(classes, slots[i].owner);
        PyObject *member = owner == NULL ? NULL : PyObject_GetAttrString(owner, slots[i].name);
        if (member == NULL || Py_TYPE(member) != &PyMemberDescr_Type) {
            Py_XDECREF(member);
            PyErr_Format(PyExc_TypeError, "recorder: %s has no slot %s", slots[i].owner, slots[i].name);
            return -1;
        }
        *slots[i].offset = ((PyMemberDescrObject *)member)->d_member->offset;
        Py_DECREF(member);
    }
    return 0;
}

/* Reads a class; 0 where it is one. */
int read_class(PyObject *classes, const char *name, PyTypeObject **type)
{
    PyObject *found = PyDict_GetItemString(classes, name);
    if (found == NULL || !PyType_Check(found)) {
        PyErr_Format(PyExc_TypeError, "recorder: the class %s is missing", name);
        return -1;
    }
    *type = (PyTypeObject *)Py_NewRef(found);
    return 0;
}

/* setup_record(classes, add_leaf, record_slowly, unread_device, undecided) */
static PyObject *setup_record(PyObject *module, PyObject *arguments)
{
    PyObject *classes;
    if (!PyArg_ParseTuple(arguments, "O!OOOO", &PyDict_Type, &classes, &add_leaf, &record_slowly, &unread_device,
                          &undecided))
        return NULL;
    Py_INCREF(add_leaf);
    Py_INCREF(record_slowly);
    Py_INCREF(unread_device);
    Py_INCREF(undecided);
    if (read_offsets(classes, RECORD_SLOTS, sizeof RECORD_SLOTS / sizeof *RECORD_SLOTS) < 0)
        return NULL;
    if (read_class(classes, "Context", &Context) < 0 || read_class(classes, "Segment", &Segment) < 0 ||
        read_class(classes, "Aval", &Aval) < 0 || read_class(classes, "OpSignature", &OpSignature) < 0 ||
        read_class(classes, "LazyArray", &LazyArray) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* setup_run(classes, operand_classes, local, run, register_view, next_serial, MultiDevice), after setup_record */
static PyObject *setup_run(PyObject *module, PyObject *arguments)
{
    PyObject *classes, *operand_classes;
    if (!PyArg_ParseTuple(arguments, "O!O!OOOOO", &PyDict_Type, &classes, &PyTuple_Type, &operand_classes, &local,
                          &dispatch_run, &register_view, &next_serial, &MultiDevice))
        return NULL;
    PyObject *const given[] = {local, dispatch_run, register_view, next_serial, MultiDevice};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        Py_INCREF(given[i]);
    if (read_offsets(classes, CALL_SLOTS, sizeof CALL_SLOTS / sizeof *CALL_SLOTS) < 0)
        return NULL;
    if (read_class(classes, "Tensor", &Tensor) < 0 || read_class(classes, "Node", &Node) < 0)
        return NULL;
    tensor_class_count = PyTuple_GET_SIZE(operand_classes);
    if (tensor_class_count > MAX_CLASSES) {
        PyErr_SetString(PyExc_TypeError, "recorder: too many classes of operands");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < tensor_class_count; i++) {
        PyObject *type = PyTuple_GET_ITEM(operand_classes, i);
        if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, Tensor)) {
            PyErr_SetString(PyExc_TypeError, "recorder: operands must be Tensors");
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
    {"record", (PyCFunction)(void (*)(void))record, METH_FASTCALL, "As `record` in segment.py."},
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, "As `run_any` in fast_path.py, of one to five operands."},
    {"index_key", index_key, METH_O, "As `_key_in_python` in indexing.py."},
    {"follow", follow, METH_VARARGS, "As `follow` in replay.py."},
    {"setup_record", setup_record, METH_VARARGS, "Called once, before `record`."},
    {"setup_run", setup_run, METH_VARARGS, "Called once, before `run`."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_recorder", .m_doc = "See recorder.c.", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit__recorder(void)
{
    if (make_constants() < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (PyModule_AddIntConstant(module, "INTERFACE", INTERFACE) < 0 ||
                           paddle_jax_add_interpreter(module) < 0 || paddle_jax_add_random_words(module) < 0))
        Py_CLEAR(module);
    return module;
}
