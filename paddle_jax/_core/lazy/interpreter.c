/* Runs plans of NumPy calls, and reads values of short segments by them, in C. `execute` and `quietly` do what the
   methods of `Plan` in plan.py do, and `read_pending` what `run_single_op` and `run_short_segment` in run_segment.py
   do in the usual case.

   The functions of a plan may be Python code, and objects are allocated: a garbage collection may record further
   operations, or run the very segment that is read. So each object that is used afterwards is owned here, and what
   others can see changes after the last call, without one in between. An exception leaves the segment as it was. */

#include "slots.h"

#define FEW 16          /* arguments of a call, or slots of a run, for which no memory is allocated */
#define OUTPUT_SHIFT 20 /* as in positions.py */
#define OP_MASK ((1 << OUTPUT_SHIFT) - 1)

/* Where the members of classes are in their objects. */
static Py_ssize_t plan_arity, plan_start, plan_steps, plan_results, plan_ends;
static Py_ssize_t context_frame, context_segment, context_loop_unit, context_next_limit;
static Py_ssize_t segment_ops, segment_leaves, segment_leaf_positions, segment_results, segment_limit,
    segment_limit_reason, segment_device, segment_elsewhere, segment_allowance, segment_recording,
    segment_running_call, segment_error, segment_lock;
static Py_ssize_t lazy_aval, lazy_array, lazy_segment, lazy_position, lazy_device, lazy_signature;
static Py_ssize_t aval_nbytes, aval_shape, aval_dtype;
static Py_ssize_t signature_container, signature_tier_state;
static Py_ssize_t state_plan, state_waste;
static Py_ssize_t log_segments, log_interpreted_ops;
static Py_ssize_t settings_min_repeats, settings_max_ops, settings_pending_mb, settings_interpreter;
static Py_ssize_t short_plan, short_operands, short_positions, short_alone;

static const Slot PLAN_SLOTS[] = {
    {"Plan", "_arity", &plan_arity},     {"Plan", "_start", &plan_start}, {"Plan", "_steps", &plan_steps},
    {"Plan", "_results", &plan_results}, {"Plan", "_ends", &plan_ends},
};

static const Slot READ_SLOTS[] = {
    {"Context", "frame", &context_frame},
    {"Context", "segment", &context_segment},
    {"Context", "loop_unit", &context_loop_unit},
    {"Context", "next_limit", &context_next_limit},
    {"Segment", "ops", &segment_ops},
    {"Segment", "leaves", &segment_leaves},
    {"Segment", "leaf_positions", &segment_leaf_positions},
    {"Segment", "results", &segment_results},
    {"Segment", "limit", &segment_limit},
    {"Segment", "limit_reason", &segment_limit_reason},
    {"Segment", "device", &segment_device},
    {"Segment", "elsewhere", &segment_elsewhere},
    {"Segment", "allowance", &segment_allowance},
    {"Segment", "recording", &segment_recording},
    {"Segment", "running_call", &segment_running_call},
    {"Segment", "error", &segment_error},
    {"Segment", "lock", &segment_lock},
    {"LazyArray", "aval", &lazy_aval},
    {"LazyArray", "array", &lazy_array},
    {"LazyArray", "segment", &lazy_segment},
    {"LazyArray", "position", &lazy_position},
    {"LazyArray", "device", &lazy_device},
    {"LazyArray", "signature", &lazy_signature},
    {"Aval", "nbytes", &aval_nbytes},
    {"Aval", "shape", &aval_shape},
    {"Aval", "dtype", &aval_dtype},
    {"OpSignature", "container", &signature_container},
    {"OpSignature", "tier_state", &signature_tier_state},
    {"TierState", "plan", &state_plan},
    {"TierState", "waste", &state_waste},
    {"Log", "segments", &log_segments},
    {"Log", "interpreted_ops", &log_interpreted_ops},
    {"Settings", "min_repeats", &settings_min_repeats},
    {"Settings", "max_ops", &settings_max_ops},
    {"Settings", "pending_mb", &settings_pending_mb},
    {"Settings", "interpreter", &settings_interpreter},
    {"ShortPlan", "plan", &short_plan},
    {"ShortPlan", "operands", &short_operands},
    {"ShortPlan", "positions", &short_positions},
    {"ShortPlan", "alone", &short_alone},
};

/* What the setups have been given. */
static PyTypeObject *ndarray, *Plan, *Context, *Segment, *LazyArray, *Aval, *OpSignature, *TierState, *ShortPlan;
static PyObject *make_array, *finish_result;
static PyObject *short_plans, *default_device, *may_interpret, *numpy_of, *next_segment, *is_unrelated_error;
static PyObject *Verbose, *settings, *log_, *warning_mode, *no_warnings, *new_lock, *undecided, *unread, *limit_reason;
static PyObject *Devices, *host, *chosen_device, *closed, *PendingChecks;
static long max_ops, large_bytes, first_limit;

/* Made once. */
static PyObject *closed_limit, *no_ops;
static PyObject *names_out, *name_dtype, *name_shape, *name_base, *name_flags, *name_c_contiguous;
static PyObject *name_level, *name_modules, *name_default, *name_value, *name_reads_held_values, *name_queue,
    *name_acquire, *name_release, *name_set, *name_reset;

/* A run of a plan. Each slot holds an object, which is owned. */
typedef struct {
    PyObject **slots;
    Py_ssize_t count;
    PyObject *few[FEW];
} Run;

/* The place of a slot; NULL with an exception. */
static PyObject **slot_at(Run *run, PyObject *number)
{
    Py_ssize_t k = PyLong_AsSsize_t(number);
    if (k >= 0 && k < run->count)
        return &run->slots[k];
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_IndexError, "a plan has no slot %zd", k);
    return NULL;
}

/* Begins a run: the operands, and the values that the plan begins with. */
static int begin(Run *run, PyObject *plan, PyObject *const *operands, Py_ssize_t count)
{
    PyObject *start = SLOT(plan, plan_start);
    Py_ssize_t arity = PyLong_AsSsize_t(SLOT(plan, plan_arity));
    run->count = PyList_GET_SIZE(start);
    if (count != arity || run->count < count) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "a plan of %zd operands got %zd", arity, count);
        return -1;
    }
    run->slots = run->count <= FEW ? run->few : PyMem_New(PyObject *, run->count);
    if (run->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t k = 0; k < run->count; k++)
        run->slots[k] = Py_NewRef(k < count ? operands[k] : PyList_GET_ITEM(start, k));
    return 0;
}

static void end(Run *run)
{
    for (Py_ssize_t k = 0; k < run->count; k++)
        Py_DECREF(run->slots[k]);
    if (run->slots != run->few)
        PyMem_Free(run->slots);
}

/* Calls a function with the slots of these numbers; out: NULL, or the array that the result is written into. */
static PyObject *call_with_slots(Run *run, PyObject *function, PyObject *numbers, PyObject *out)
{
    PyObject *few[FEW + 1];
    Py_ssize_t count = PyTuple_GET_SIZE(numbers);
    PyObject **arguments = count <= FEW ? few : PyMem_New(PyObject *, count + 1);
    if (arguments == NULL)
        return PyErr_NoMemory();
    PyObject *result = NULL;
    Py_ssize_t k = 0;
    for (; k < count; k++) {
        PyObject **slot = slot_at(run, PyTuple_GET_ITEM(numbers, k));
        if (slot == NULL)
            break;
        arguments[k] = *slot;
    }
    arguments[count] = out;
    if (k == count)
        result = PyObject_Vectorcall(function, arguments, count, out == NULL ? NULL : names_out);
    if (arguments != few)
        PyMem_Free(arguments);
    return result;
}

/* Puts an object into a slot, which takes over the reference. */
static int store(Run *run, PyObject *number, PyObject *value)
{
    PyObject **slot = value == NULL ? NULL : slot_at(run, number);
    if (slot == NULL) {
        Py_XDECREF(value);
        return -1;
    }
    Py_SETREF(*slot, value);
    return 0;
}

/* Puts the results of a call into their slots. */
static int store_all(Run *run, PyObject *numbers, PyObject *values)
{
    PyObject *items = values == NULL ? NULL : PySequence_Fast(values, "a rule of several results gave one");
    Py_XDECREF(values);
    if (items == NULL)
        return -1;
    int outcome = 0;
    for (Py_ssize_t k = 0; outcome == 0 && k < PyTuple_GET_SIZE(numbers) && k < PySequence_Fast_GET_SIZE(items); k++)
        outcome = store(run, PyTuple_GET_ITEM(numbers, k), Py_NewRef(PySequence_Fast_GET_ITEM(items, k)));
    Py_DECREF(items);
    return outcome;
}

/* Makes one step of a plan: (kind, function, operands, second operand or target, results, slots to free). */
static int make_step(Run *run, PyObject *step)
{
    PyObject *const *parts = &PyTuple_GET_ITEM(step, 0);
    PyObject *function = parts[1];
    PyObject **first = NULL, **second = NULL;
    int outcome = -1;
    switch (PyLong_AsLong(parts[0])) {
    case 0: /* several results */
        outcome = store_all(run, parts[4], call_with_slots(run, function, parts[2], NULL));
        break;
    case 1:
        first = slot_at(run, parts[2]);
        if (first != NULL)
            outcome = store(run, parts[4], PyObject_CallOneArg(function, *first));
        break;
    case 2:
        first = slot_at(run, parts[2]);
        second = first == NULL ? NULL : slot_at(run, parts[3]);
        if (second != NULL) {
            PyObject *arguments[] = {*first, *second};
            outcome = store(run, parts[4], PyObject_Vectorcall(function, arguments, 2, NULL));
        }
        break;
    case 3: /* any number of operands */
        outcome = store(run, parts[4], call_with_slots(run, function, parts[2], NULL));
        break;
    case 4: /* into the memory of an operand */
        second = slot_at(run, parts[3]);
        if (second != NULL)
            outcome = store(run, parts[4], call_with_slots(run, function, parts[2], *second));
        break;
    default:
        PyErr_SetString(PyExc_ValueError, "a plan has a step of an unknown kind");
    }
    PyObject *dead = parts[5];
    for (Py_ssize_t k = 0; outcome == 0 && dead != Py_None && k < PyTuple_GET_SIZE(dead); k++)
        outcome = store(run, PyTuple_GET_ITEM(dead, k), Py_NewRef(Py_None));
    return outcome;
}

/* Whether an attribute is a given object, or equal to it: 1, 0, or -1 with an exception. */
static int has(PyObject *object, PyObject *name, PyObject *wanted, bool may_equal)
{
    PyObject *found = PyObject_GetAttr(object, name);
    if (found == NULL)
        return -1;
    int is_wanted = found == wanted;
    if (!is_wanted && may_equal)
        is_wanted = PyObject_RichCompareBool(found, wanted, Py_EQ);
    Py_DECREF(found);
    return is_wanted;
}

/* Whether an array can be a result as it is; see `quietly` in plan.py. */
static int is_finished(PyObject *array, PyObject *is_owned, PyObject *shape, PyObject *dtype)
{
    if (Py_TYPE(array) != ndarray)
        return 0;
    int is_so = has(array, name_dtype, dtype, false);
    if (is_so > 0)
        is_so = has(array, name_shape, shape, true);
    if (is_so > 0 && is_owned != Py_True)
        is_so = has(array, name_base, Py_None, false);
    if (is_so <= 0)
        return is_so;
    PyObject *flags = PyObject_GetAttr(array, name_flags);
    is_so = flags == NULL ? -1 : has(flags, name_c_contiguous, Py_True, false);
    Py_XDECREF(flags);
    return is_so;
}

/* A result in its last form, a new reference. ending: (whether it is an array of its own, shape, dtype). */
static PyObject *finished(PyObject *result, PyObject *ending)
{
    PyObject *is_owned = PyTuple_GET_ITEM(ending, 0);
    PyObject *shape = PyTuple_GET_ITEM(ending, 1);
    PyObject *dtype = PyTuple_GET_ITEM(ending, 2);
    /* A ufunc gives a scalar in place of an array without axes. */
    PyObject *array = Py_TYPE(result) == ndarray ? Py_NewRef(result) : PyObject_CallOneArg(make_array, result);
    int is_so = array == NULL ? -1 : is_finished(array, is_owned, shape, dtype);
    if (is_so == 0) {
        PyObject *arguments[] = {array, is_owned, shape, dtype};
        Py_SETREF(array, PyObject_Vectorcall(finish_result, arguments, 4, NULL));
    } else if (is_so < 0) {
        Py_CLEAR(array);
    }
    return array;
}

/* Runs a plan; the list of its results. as_they_are: whether NumPy scalars and views may be among them. */
static PyObject *run_plan(PyObject *plan, PyObject *const *operands, Py_ssize_t count, bool as_they_are)
{
    Run run;
    if (begin(&run, plan, operands, count) < 0)
        return NULL;
    PyObject *steps = SLOT(plan, plan_steps);
    PyObject *numbers = SLOT(plan, plan_results);
    PyObject *endings = SLOT(plan, plan_ends);
    int outcome = 0;
    for (Py_ssize_t i = 0; outcome == 0 && i < PyList_GET_SIZE(steps); i++)
        outcome = make_step(&run, PyList_GET_ITEM(steps, i));
    PyObject *results = outcome < 0 ? NULL : PyList_New(PyList_GET_SIZE(numbers));
    for (Py_ssize_t k = 0; results != NULL && k < PyList_GET_SIZE(numbers); k++) {
        PyObject **slot = slot_at(&run, PyList_GET_ITEM(numbers, k));
        PyObject *result = NULL;
        if (slot != NULL)
            result = as_they_are ? Py_NewRef(*slot) : finished(*slot, PyList_GET_ITEM(endings, k));
        if (result == NULL)
            Py_CLEAR(results);
        else
            PyList_SET_ITEM(results, k, result);
    }
    end(&run);
    return results;
}

static PyObject *run_with(PyObject *const *arguments, Py_ssize_t length, bool as_they_are)
{
    if (length != 2 || Plan == NULL || Py_TYPE(arguments[0]) != Plan) {
        PyErr_SetString(PyExc_TypeError, "recorder: give a Plan and its operands");
        return NULL;
    }
    PyObject *operands = PySequence_Tuple(arguments[1]);
    if (operands == NULL)
        return NULL;
    PyObject *results =
        run_plan(arguments[0], &PyTuple_GET_ITEM(operands, 0), PyTuple_GET_SIZE(operands), as_they_are);
    Py_DECREF(operands);
    return results;
}

/* execute(plan, operands) */
static PyObject *execute(PyObject *module, PyObject *const *arguments, Py_ssize_t length)
{
    return run_with(arguments, length, true);
}

/* quietly(plan, operands) */
static PyObject *quietly(PyObject *module, PyObject *const *arguments, Py_ssize_t length)
{
    return run_with(arguments, length, false);
}

/* A read of a pending value. All objects are owned, or NULL, but for context and value. */
typedef struct {
    PyObject *context, *value;
    PyObject *segment, *device, *ops, *leaves, *results;
    PyObject *plan;
    PyObject *short_plan; /* of a segment of several operations, else NULL */
    PyObject *arrays;     /* the results of the plan */
    Py_ssize_t count;     /* of the operations */
    PyObject *array;      /* of the value */
} Read;

static void release(Read *read)
{
    Py_CLEAR(read->segment);
    Py_CLEAR(read->device);
    Py_CLEAR(read->ops);
    Py_CLEAR(read->leaves);
    Py_CLEAR(read->results);
    Py_CLEAR(read->plan);
    Py_CLEAR(read->short_plan);
    Py_CLEAR(read->arrays);
    Py_CLEAR(read->array);
}

/* A number in a slot; -1 with an exception where there is none. */
static long number_in(PyObject *object, Py_ssize_t offset)
{
    PyObject *number = SLOT(object, offset);
    if (number == NULL) {
        PyErr_SetString(PyExc_AttributeError, "recorder: a number is missing");
        return -1;
    }
    return PyLong_AsLong(number);
}

/* Whether nothing is printed, and segments are not to be compiled after a number of runs. */
static Outcome find_mode(void)
{
    PyObject *modules = PyObject_GetAttr(Verbose, name_modules);
    PyObject *level = modules == NULL ? NULL : PyObject_GetAttr(Verbose, name_level);
    bool is_usual = level != NULL && PyDict_CheckExact(modules) && PyDict_GET_SIZE(modules) == 0 &&
                    PyLong_AsLong(level) <= 0 && number_in(settings, settings_min_repeats) == 0;
    Py_XDECREF(modules);
    Py_XDECREF(level);
    if (PyErr_Occurred())
        return FAILED;
    return is_usual ? DONE : ELSEWHERE;
}

/* Whether arrays are on the host where nothing else is chosen: 1, 0, or -1 with an exception. */
static int is_host_the_default(void)
{
    if (chosen_device == Py_None)
        return 0; /* this version of JAX has the choice elsewhere */
    int is_host = has(Devices, name_default, host, false);
    return is_host > 0 ? has(chosen_device, name_value, Py_None, false) : is_host;
}

/* Finds the device of the segment, and whether NumPy may compute there. */
static Outcome find_device(Read *read)
{
    PyObject *device = SLOT(read->segment, segment_device);
    if (device == NULL)
        return ELSEWHERE;
    read->device = Py_NewRef(device);
    int is_usual = device == host || device == undecided ? is_host_the_default() : 0;
    if (is_usual > 0) {
        if (device == undecided)
            Py_SETREF(read->device, Py_NewRef(host));
        return SLOT(settings, settings_interpreter) == Py_True ? DONE : ELSEWHERE;
    }
    if (is_usual == 0 && device == undecided)
        Py_SETREF(read->device, PyObject_CallNoArgs(default_device));
    PyObject *answer = is_usual < 0 || read->device == NULL ? NULL : PyObject_CallOneArg(may_interpret, read->device);
    if (answer == NULL)
        return FAILED;
    Py_DECREF(answer);
    return answer == Py_True ? DONE : ELSEWHERE;
}

/* Finds the segment of the value, which must be that of the thread, and its device. */
static Outcome find_segment(Read *read)
{
    PyObject *segment = SLOT(read->value, lazy_segment);
    if (segment == NULL || Py_TYPE(segment) != Segment || SLOT(read->context, context_segment) != segment)
        return ELSEWHERE;
    read->segment = Py_NewRef(segment);
    Outcome outcome = find_mode();
    return outcome == DONE ? find_device(read) : outcome;
}

/* A list in a slot, owned; NULL where there is none. */
static PyObject *list_in(PyObject *object, Py_ssize_t offset)
{
    PyObject *list = SLOT(object, offset);
    return list != NULL && PyList_CheckExact(list) ? Py_NewRef(list) : NULL;
}

/* The plan of the only operation of a segment, if no compiled program could run it faster. */
static Outcome find_single_plan(Read *read)
{
    PyObject *signature = PyTuple_GET_ITEM(PyList_GET_ITEM(read->ops, 0), 0);
    PyObject *state = Py_TYPE(signature) == OpSignature ? SLOT(signature, signature_tier_state) : NULL;
    if (state == NULL || Py_TYPE(state) != TierState)
        return ELSEWHERE;
    PyObject *plan = SLOT(state, state_plan);
    PyObject *waste = SLOT(state, state_waste);
    if (plan == NULL || Py_TYPE(plan) != Plan || waste == NULL || !PyFloat_CheckExact(waste))
        return ELSEWHERE;
    if (PyFloat_AS_DOUBLE(waste) > 0.0)
        return ELSEWHERE;
    read->plan = Py_NewRef(plan);
    return DONE;
}

/* The plan of several operations, if there is one, and if the value is not one that is computed alone. */
static Outcome find_short_plan(Read *read)
{
    /* Not by PyList_AsTuple: a collection in it may append to the list, which moves. */
    PyObject *key = PyTuple_New(read->count);
    if (key == NULL)
        return FAILED;
    for (Py_ssize_t i = 0; i < read->count; i++)
        PyTuple_SET_ITEM(key, i, Py_NewRef(PyList_GET_ITEM(read->ops, i)));
    PyObject *found = PyDict_GetItemWithError(short_plans, key);
    Py_DECREF(key);
    if (found == NULL)
        return PyErr_Occurred() ? FAILED : ELSEWHERE;
    if (Py_TYPE(found) != ShortPlan)
        return ELSEWHERE;
    read->short_plan = Py_NewRef(found);
    read->plan = Py_NewRef(SLOT(found, short_plan));
    PyObject *alone = SLOT(found, short_alone);
    if (PySet_GET_SIZE(alone) == 0)
        return DONE;
    PyObject *number = PyLong_FromSsize_t(PyLong_AsSsize_t(SLOT(read->value, lazy_position)) & OP_MASK);
    int is_alone = number == NULL ? -1 : PySet_Contains(alone, number);
    Py_XDECREF(number);
    if (is_alone == 0)
        return DONE;
    return is_alone < 0 ? FAILED : ELSEWHERE;
}

/* Finds the operations, and the plan that runs them. */
static Outcome find_plan(Read *read)
{
    PyObject *segment = read->segment;
    /* Once more: Python code has run since. */
    if (SLOT(read->context, context_segment) != segment || SLOT(segment, segment_recording) != Py_False ||
        SLOT(segment, segment_running_call) != Py_None)
        return ELSEWHERE;
    read->ops = list_in(segment, segment_ops);
    read->leaves = list_in(segment, segment_leaves);
    read->results = list_in(segment, segment_results);
    if (read->ops == NULL || read->leaves == NULL || read->results == NULL)
        return ELSEWHERE;
    read->count = PyList_GET_SIZE(read->ops);
    if (read->count == 1)
        return find_single_plan(read);
    if (read->count == 0 || read->count > max_ops)
        return ELSEWHERE;
    return find_short_plan(read);
}

/* The position of a result in the order of the plan's; -1 with an exception. */
static Py_ssize_t position_of_result(Read *read, Py_ssize_t number)
{
    if (read->short_plan != NULL) {
        PyObject *positions = SLOT(read->short_plan, short_positions);
        return number < PyList_GET_SIZE(positions) ? PyLong_AsSsize_t(PyList_GET_ITEM(positions, number)) : -1;
    }
    PyObject *signature = PyTuple_GET_ITEM(PyList_GET_ITEM(read->ops, 0), 0);
    return SLOT(signature, signature_container) == Py_None ? 0 : (number + 1) << OUTPUT_SHIFT;
}

/* The number of the plan's result at a position; -1 where there is none. They are mostly in order, so the search begins
   at the one after the last. */
static Py_ssize_t number_of_result(Read *read, PyObject *position, Py_ssize_t first)
{
    Py_ssize_t count = PyList_GET_SIZE(read->arrays);
    Py_ssize_t wanted = position == NULL ? -1 : PyLong_AsSsize_t(position);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t number = (first + i) % count;
        if (position_of_result(read, number) == wanted)
            return number;
    }
    return -1;
}

/* Whether a LazyArray is a host number without axes. */
static bool is_number(PyObject *lazy)
{
    PyObject *array = SLOT(lazy, lazy_array);
    PyObject *aval = SLOT(lazy, lazy_aval);
    return array != NULL && PyTuple_CheckExact(array) && PyTuple_GET_SIZE(array) == 1 &&
           SLOT(lazy, lazy_device) != unread && aval != NULL && Py_TYPE(aval) == Aval &&
           PyTuple_GET_SIZE(SLOT(aval, aval_shape)) == 0;
}

/* The NumPy array of a host number without axes, a new reference. */
static PyObject *array_of_number(PyObject *lazy)
{
    PyObject *arguments[] = {PyTuple_GET_ITEM(SLOT(lazy, lazy_array), 0), SLOT(SLOT(lazy, lazy_aval), aval_dtype)};
    return PyObject_Vectorcall(make_array, arguments, 2, NULL);
}

/* The NumPy array of a leaf, a new reference. */
static PyObject *array_of(PyObject *leaf)
{
    PyObject *array = SLOT(leaf, lazy_array);
    if (array != NULL && Py_TYPE(array) == ndarray)
        return Py_NewRef(array);
    return is_number(leaf) ? array_of_number(leaf) : PyObject_CallOneArg(numpy_of, leaf);
}

/* Runs the plan on the leaves at the positions of its operands. */
static Outcome run_on_leaves(Read *read)
{
    PyObject *few[FEW];
    Py_ssize_t first = 0;
    PyObject *const *positions;
    Py_ssize_t count;
    if (read->short_plan != NULL) {
        PyObject *operands = SLOT(read->short_plan, short_operands);
        positions = ((PyListObject *)operands)->ob_item;
        count = PyList_GET_SIZE(operands);
    } else {
        PyObject *entry = PyList_GET_ITEM(read->ops, 0);
        positions = &PyTuple_GET_ITEM(entry, 0) + 1;
        count = PyTuple_GET_SIZE(entry) - 1;
    }
    if (count > FEW)
        return ELSEWHERE;
    Outcome outcome = DONE;
    for (; outcome == DONE && first < count; first++) {
        Py_ssize_t leaf = -1 - PyLong_AsSsize_t(positions[first]);
        few[first] = NULL;
        if (leaf < 0 || leaf >= PyList_GET_SIZE(read->leaves))
            outcome = ELSEWHERE;
        else
            few[first] = array_of(PyList_GET_ITEM(read->leaves, leaf));
        if (few[first] == NULL)
            break;
    }
    if (first == count) {
        read->arrays = run_plan(read->plan, few, count, false);
        outcome = read->arrays == NULL ? FAILED : DONE;
    } else if (outcome == DONE) {
        outcome = FAILED;
    }
    while (first > 0)
        Py_DECREF(few[--first]);
    return outcome;
}

/* Looks at an exception in a run. One that belongs to an operation is dropped, for the usual way names it. */
static Outcome judge_error(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return FAILED;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    Outcome outcome = ELSEWHERE;
    /* Where no Python code raised it, NumPy did. The usual way also holds less memory at a time. */
    if (traceback != NULL && !PyErr_GivenExceptionMatches(type, PyExc_MemoryError)) {
        PyException_SetTraceback(error, traceback);
        PyObject *answer = PyObject_CallOneArg(is_unrelated_error, error);
        if (answer != Py_False)
            outcome = FAILED;
        Py_XDECREF(answer);
    }
    if (outcome == FAILED && !PyErr_Occurred()) {
        PyErr_Restore(type, error, traceback);
        return FAILED;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return outcome;
}

/* Sets NumPy's mode of warnings, or puts it back. A context variable of Python 3.11 must not change in a finalizer
   while it changes. */
static PyObject *change_warnings(PyObject *method, PyObject *mode)
{
    int collects = PyGC_Disable();
    PyObject *result;
    if (!PyContextVar_CheckExact(warning_mode))
        result = PyObject_CallMethodOneArg(warning_mode, method, mode);
    else if (method == name_set)
        result = PyContextVar_Set(warning_mode, mode);
    else
        result = PyContextVar_Reset(warning_mode, mode) < 0 ? NULL : Py_NewRef(Py_None);
    if (collects)
        PyGC_Enable();
    return result;
}

/* As `run_on_leaves`, without NumPy's warnings. */
static Outcome run_without_warnings(Read *read)
{
    PyObject *before = change_warnings(name_set, no_warnings);
    if (before == NULL)
        return FAILED;
    Outcome outcome = run_on_leaves(read);
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *nothing = change_warnings(name_reset, before);
    Py_DECREF(before);
    if (nothing == NULL) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        return FAILED;
    }
    Py_DECREF(nothing);
    PyErr_Restore(type, error, traceback);
    return outcome == FAILED ? judge_error() : outcome;
}

/* Raises a count of the log. */
static int add_to_log(Py_ssize_t offset, Py_ssize_t number)
{
    long before = number_in(log_, offset);
    PyObject *sum = PyErr_Occurred() ? NULL : PyLong_FromLongLong((long long)before + number);
    if (sum == NULL)
        return -1;
    set_slot(log_, offset, sum);
    Py_DECREF(sum);
    return 0;
}

/* The limit of the next segment, as `_next_segment` in run_segment.py; -1 with an exception. */
static long limit_of_next(PyObject *context)
{
    long limit = number_in(context, context_next_limit);
    long most = number_in(settings, settings_max_ops);
    if (PyErr_Occurred())
        return -1;
    if (limit < first_limit)
        limit = first_limit;
    return limit < most ? limit : most;
}

/* What a segment begins with, and where that is in it. */
#define CONTENTS 6
static Py_ssize_t *const content_offsets[CONTENTS] = {&segment_ops,     &segment_leaves, &segment_leaf_positions,
                                                      &segment_results, &segment_limit,  &segment_allowance};

static int make_contents(PyObject **contents, long limit)
{
    long long allowance = number_in(settings, settings_pending_mb);
    if (PyErr_Occurred())
        return -1;
    contents[0] = PyList_New(0);
    contents[1] = PyList_New(0);
    contents[2] = PyDict_New();
    contents[3] = PyList_New(0);
    contents[4] = PyLong_FromLong(limit);
    contents[5] = PyLong_FromLongLong(allowance << 20);
    if (!PyErr_Occurred())
        return 0;
    for (int i = 0; i < CONTENTS; i++)
        Py_XDECREF(contents[i]);
    return -1;
}

/* Makes a segment what `Segment(limit)` is, but for its lock. It takes over the contents. */
static void fill(PyObject *segment, PyObject **contents)
{
    PyObject *old[CONTENTS];
    for (int i = 0; i < CONTENTS; i++) {
        old[i] = SLOT(segment, *content_offsets[i]);
        SLOT(segment, *content_offsets[i]) = contents[i];
    }
    set_slot(segment, segment_limit_reason, limit_reason);
    set_slot(segment, segment_device, undecided);
    set_slot(segment, segment_elsewhere, Py_False);
    set_slot(segment, segment_recording, Py_False);
    set_slot(segment, segment_running_call, Py_None);
    set_slot(segment, segment_error, Py_None);
    for (int i = 0; i < CONTENTS; i++)
        Py_XDECREF(old[i]);
}

/* A new segment, as `Segment(limit)`. It takes over the contents. */
static PyObject *new_segment(PyObject **contents)
{
    PyObject *lock = PyObject_CallNoArgs(new_lock);
    PyObject *segment = lock == NULL ? NULL : new_object(Segment);
    if (segment == NULL) {
        Py_XDECREF(lock);
        for (int i = 0; i < CONTENTS; i++)
            Py_DECREF(contents[i]);
        return NULL;
    }
    SLOT(segment, segment_lock) = lock;
    fill(segment, contents);
    return segment;
}

/* Gives the results to the LazyArrays that somebody else holds. They are pending no more, so another segment, which is
   closed, stands in their slot: then nothing may hold this one. */
static Outcome give_arrays(Read *read)
{
    Py_ssize_t number = -1;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(read->results); k++) {
        PyObject *value = PyList_GET_ITEM(read->results, k);
        if (Py_TYPE(value) != LazyArray)
            return ELSEWHERE;
        number = number_of_result(read, SLOT(value, lazy_position), number + 1);
        if (number < 0)
            continue; /* of an operation that a finalizer has recorded meanwhile */
        set_slot(value, lazy_segment, closed);
        if (SLOT(value, lazy_array) != Py_None || Py_REFCNT(value) == 1)
            continue;
        PyObject *bytes = SLOT(SLOT(value, lazy_aval), aval_nbytes);
        if (PyLong_AsLongLong(bytes) >= large_bytes) {
            Py_ssize_t operation = PyLong_AsSsize_t(SLOT(value, lazy_position)) & OP_MASK;
            set_slot(value, lazy_signature, PyTuple_GET_ITEM(PyList_GET_ITEM(read->ops, operation), 0));
        }
        /* The device first: another thread may record the value as soon as it has its array. */
        set_slot(value, lazy_device, read->device);
        set_slot(value, lazy_array, PyList_GET_ITEM(read->arrays, number));
    }
    return PyErr_Occurred() ? FAILED : DONE;
}

/* Drops everything, as `Segment.close`. */
static void close_segment(PyObject *segment)
{
    set_slot(segment, segment_limit, closed_limit);
    set_slot(segment, segment_ops, no_ops);
    set_slot(segment, segment_leaves, Py_None);
    set_slot(segment, segment_leaf_positions, Py_None);
    set_slot(segment, segment_results, Py_None);
    set_slot(segment, segment_running_call, Py_None);
}

/* Whether the segment that has been read is the one that the thread records into, with nothing new in it. A finalizer
   may have recorded further operations, or run it. */
static bool is_unchanged(Read *read)
{
    return SLOT(read->context, context_segment) == read->segment && PyList_GET_SIZE(read->ops) == read->count &&
           SLOT(read->segment, segment_ops) == read->ops;
}

/* Begins another segment of the thread, if the one that has been read is its segment still. */
static Outcome begin_next(Read *read)
{
    PyObject *unit = SLOT(read->context, context_loop_unit);
    int is_in_loop = unit == NULL ? 0 : PyObject_IsTrue(unit);
    long limit = is_in_loop ? 0 : limit_of_next(read->context);
    PyObject *contents[CONTENTS];
    PyObject *next;
    if (PyErr_Occurred())
        return FAILED;
    if (is_in_loop) {
        next = PyObject_CallOneArg(next_segment, read->context);
    } else {
        if (make_contents(contents, limit) < 0)
            return FAILED;
        /* Nobody but the Context and this function holds it, so it can begin again. */
        if (is_unchanged(read) && Py_REFCNT(read->segment) == 2) {
            fill(read->segment, contents);
            return DONE;
        }
        next = new_segment(contents);
    }
    if (next == NULL)
        return FAILED;
    bool may_close = is_unchanged(read);
    if (SLOT(read->context, context_segment) == read->segment)
        set_slot(read->context, context_segment, next);
    if (may_close)
        close_segment(read->segment);
    Py_DECREF(next);
    return DONE;
}

/* Gives the results to their LazyArrays, and begins another segment; as `_finish_part` in run_segment.py. */
static Outcome finish(Read *read)
{
    Outcome outcome = DONE;
    /* Else a finalizer has run the segment meanwhile. */
    if (SLOT(read->segment, segment_results) == read->results)
        outcome = give_arrays(read);
    if (outcome == DONE)
        outcome = begin_next(read);
    if (outcome != DONE)
        return outcome;
    if (add_to_log(log_segments, 1) < 0 || add_to_log(log_interpreted_ops, read->count) < 0)
        return FAILED;
    read->array = Py_XNewRef(SLOT(read->value, lazy_array));
    return read->array == NULL || read->array == Py_None ? ELSEWHERE : DONE;
}

/* Computes the value while the lock of its segment is held. */
static Outcome compute(Read *read)
{
    Outcome outcome = find_plan(read);
    if (outcome == DONE)
        outcome = run_without_warnings(read);
    return outcome == DONE ? finish(read) : outcome;
}

/* Computes the value; ELSEWHERE where another thread holds the lock of its segment. */
static Outcome lock_and_compute(Read *read)
{
    PyObject *lock = Py_NewRef(SLOT(read->segment, segment_lock));
    PyObject *arguments[] = {lock, Py_False};
    PyObject *is_mine = PyObject_VectorcallMethod(name_acquire, arguments, 2, NULL);
    Outcome outcome = is_mine == NULL ? FAILED : ELSEWHERE;
    if (is_mine == Py_True) {
        outcome = compute(read);
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        PyObject *nothing = PyObject_CallMethodNoArgs(lock, name_release);
        Py_XDECREF(nothing);
        if (nothing == NULL)
            outcome = FAILED;
        else
            PyErr_Restore(type, error, traceback);
    }
    Py_XDECREF(is_mine);
    Py_DECREF(lock);
    return outcome;
}

/* The array of a pending value, a new reference: None where it is not the usual case. */
static PyObject *compute_pending(PyObject *context, PyObject *value)
{
    Read read = {.context = context, .value = value};
    Outcome outcome = find_segment(&read);
    if (outcome == DONE)
        outcome = lock_and_compute(&read);
    PyObject *array = outcome == DONE ? Py_NewRef(read.array) : NULL;
    release(&read);
    return outcome == ELSEWHERE ? Py_NewRef(Py_None) : array;
}

/* Whether the arguments of a read are a Context and a LazyArray: 1, 0 where it is not the usual case, or -1 with an
   exception. */
static int are_readable(PyObject *const *arguments, Py_ssize_t length)
{
    if (length != 2) {
        PyErr_Format(PyExc_TypeError, "recorder: got %zd arguments; give a Context and a LazyArray", length);
        return -1;
    }
    return ShortPlan != NULL && Py_TYPE(arguments[0]) == Context && Py_TYPE(arguments[1]) == LazyArray;
}

/* read_pending(context, value) */
static PyObject *read_pending(PyObject *module, PyObject *const *arguments, Py_ssize_t length)
{
    int is_usual = are_readable(arguments, length);
    if (is_usual == 0)
        Py_RETURN_NONE;
    return is_usual < 0 ? NULL : compute_pending(arguments[0], arguments[1]);
}

/* read_held(context, raw) */
static PyObject *read_held(PyObject *module, PyObject *const *arguments, Py_ssize_t length)
{
    int is_usual = are_readable(arguments, length);
    PyObject *frame = is_usual > 0 ? SLOT(arguments[0], context_frame) : NULL;
    if (frame != NULL)
        is_usual = has(frame, name_reads_held_values, Py_True, false);
    if (is_usual < 0)
        return NULL;
    if (is_usual == 0 || frame == NULL)
        Py_RETURN_NONE;
    PyObject *array = SLOT(arguments[1], lazy_array);
    if (array == Py_None)
        array = compute_pending(arguments[0], arguments[1]);
    else
        array = is_number(arguments[1]) ? array_of_number(arguments[1]) : Py_XNewRef(array);
    if (array == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    /* A check of a value may have failed, which a read raises. */
    PyObject *queue = Py_TYPE(array) == ndarray ? PyObject_GetAttr(PendingChecks, name_queue) : Py_NewRef(no_ops);
    is_usual = queue == NULL ? -1 : PyList_CheckExact(queue) && PyList_GET_SIZE(queue) == 0;
    Py_XDECREF(queue);
    if (is_usual < 0)
        Py_CLEAR(array);
    else if (is_usual == 0)
        Py_SETREF(array, Py_NewRef(Py_None));
    return array;
}

/* Owns what a setup has been given. */
static void own(PyObject *const *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        Py_INCREF(given[i]);
}

/* setup_plan(classes, make_array, finish_result): classes are Plan and ndarray */
static PyObject *setup_plan(PyObject *module, PyObject *arguments)
{
    PyObject *classes;
    if (!PyArg_ParseTuple(arguments, "O!OO", &PyDict_Type, &classes, &make_array, &finish_result))
        return NULL;
    PyObject *const given[] = {make_array, finish_result};
    own(given, sizeof given / sizeof *given);
    if (read_offsets(classes, PLAN_SLOTS, sizeof PLAN_SLOTS / sizeof *PLAN_SLOTS) < 0)
        return NULL;
    if (read_class(classes, "ndarray", &ndarray) < 0 || read_class(classes, "Plan", &Plan) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* Takes an object out of the dict that `setup_read` gets; 0 where it is there. */
static int take(PyObject *objects, const char *name, PyObject **target)
{
    *target = Py_XNewRef(PyDict_GetItemString(objects, name));
    if (*target == NULL)
        PyErr_Format(PyExc_TypeError, "recorder: %s is missing", name);
    return *target == NULL ? -1 : 0;
}

/* setup_read(classes, objects, max_ops, large_bytes, first_limit), after setup_plan */
static PyObject *setup_read(PyObject *module, PyObject *arguments)
{
    PyObject *classes, *objects;
    if (!PyArg_ParseTuple(arguments, "O!O!lll", &PyDict_Type, &classes, &PyDict_Type, &objects, &max_ops,
                          &large_bytes, &first_limit))
        return NULL;
    const struct {
        const char *name;
        PyObject **target;
    } wanted[] = {
        {"short_plans", &short_plans},     {"default_device", &default_device},
        {"may_interpret", &may_interpret}, {"numpy_of", &numpy_of},
        {"next_segment", &next_segment},   {"is_unrelated_error", &is_unrelated_error},
        {"Verbose", &Verbose},             {"settings", &settings},
        {"log", &log_},                    {"warning_mode", &warning_mode},
        {"no_warnings", &no_warnings},     {"new_lock", &new_lock},
        {"undecided", &undecided},         {"unread", &unread},
        {"limit_reason", &limit_reason},   {"Devices", &Devices},
        {"host", &host},                   {"chosen_device", &chosen_device},
        {"closed", &closed},               {"PendingChecks", &PendingChecks},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (take(objects, wanted[i].name, wanted[i].target) < 0)
            return NULL;
    }
    if (read_offsets(classes, READ_SLOTS, sizeof READ_SLOTS / sizeof *READ_SLOTS) < 0)
        return NULL;
    if (read_class(classes, "Context", &Context) < 0 || read_class(classes, "Segment", &Segment) < 0 ||
        read_class(classes, "LazyArray", &LazyArray) < 0 || read_class(classes, "Aval", &Aval) < 0 ||
        read_class(classes, "OpSignature", &OpSignature) < 0 || read_class(classes, "TierState", &TierState) < 0 ||
        read_class(classes, "ShortPlan", &ShortPlan) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"execute", (PyCFunction)(void (*)(void))execute, METH_FASTCALL, "As `Plan.execute` in plan.py."},
    {"quietly", (PyCFunction)(void (*)(void))quietly, METH_FASTCALL, "As `Plan.quietly` in plan.py."},
    {"read_pending", (PyCFunction)(void (*)(void))read_pending, METH_FASTCALL,
     "The array of a pending LazyArray; None where `Segment.materialize` has to compute it."},
    {"read_held", (PyCFunction)(void (*)(void))read_held, METH_FASTCALL,
     "The NumPy array of what a Tensor holds; None where `host_value` in tensor.py has to find it."},
    {"setup_plan", setup_plan, METH_VARARGS, "Called once, before `execute` and `quietly`."},
    {"setup_read", setup_read, METH_VARARGS, "Called once, before `read_pending`."},
    {NULL},
};

int paddle_jax_add_interpreter(PyObject *module)
{
    const struct {
        const char *text;
        PyObject **target;
    } names[] = {
        {"dtype", &name_dtype},
        {"shape", &name_shape},
        {"base", &name_base},
        {"flags", &name_flags},
        {"c_contiguous", &name_c_contiguous},
        {"level", &name_level},
        {"modules", &name_modules},
        {"default", &name_default},
        {"value", &name_value},
        {"reads_held_values", &name_reads_held_values},
        {"queue", &name_queue},
        {"acquire", &name_acquire},
        {"release", &name_release},
        {"set", &name_set},
        {"reset", &name_reset},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *names[i].target = PyUnicode_InternFromString(names[i].text);
        if (*names[i].target == NULL)
            return -1;
    }
    closed_limit = PyLong_FromLong(-1);
    no_ops = PyTuple_New(0);
    names_out = Py_BuildValue("(s)", "out");
    return PyErr_Occurred() ? -1 : PyModule_AddFunctions(module, methods);
}
