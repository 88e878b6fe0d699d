"""The text of the public function that a declaration gives: Paddle's signature, a fast path for plain
Tensors, aliases and `out=`."""

import inspect

_MISSING = inspect.Parameter.empty


def source_of(op):
    """The text of an op's public function, which is compiled at its first call. op: the function, or its Op.

    Example:
        >>> from paddle_jax._core.ops.generated_source import source_of
        >>> print(source_of(paddle.tanh).splitlines()[0])
        def tanh(x=_d_x, name=_d_name, *_more, out=None, **_kw):
    """
    made = getattr(op, "op", op)
    return source(made, made.out)[0]


def source(made, out):
    """Text of the public function (Paddle's signature, a fast path for plain Tensor operands, aliases and
    out= aside) and its defaults."""
    head = []
    star = False
    defaults = {}
    plain = made.composite and not (made.alias or made.refuses or out)  # nothing to do but to call it
    for p in made.params:
        if p.kind is p.KEYWORD_ONLY and not star:
            head.append("*" if plain else "*_more")
            star = True
        if p.kind is p.VAR_POSITIONAL:
            star = True
            head.append("*" + p.name)
            continue
        if plain and p.default is _MISSING:
            head.append(p.name)
            continue
        defaults["_d_" + p.name] = p.default
        head.append(f"{p.name}=_d_{p.name}")
    counted = not plain and all(p.kind is not p.VAR_POSITIONAL for p in made.params)
    if counted and not star:
        head.append("*_more")
    if out:
        head.append("out=None")
    values = "dict(" + ", ".join(f"{p.name}={p.name}" for p in made.params) + ")"
    lines = [f"def {made.name}({', '.join(head if plain else [*head, '**_kw'])}):"]
    lines += ["    if _more: raise _too_many(_op, _more)"] if counted else []
    lines += (
        [] if plain else [f"    if _kw: return _aliased(_op, {values}, _kw{', out' if out else ', None'})"]
    )
    if made.composite:
        test = "_local.ctx.frame.recording" + (" and out is None" if out else "")
        lines += [f"    if {test}: return _local.ctx.frame.composite(_op, {_arguments(made)})"]
    if made.composite:
        result = _composite_call(made)
    else:
        result = f"_call(({_tuple(made.tensors)}), ({_tuple(made.attrs)}))"
    if out:
        lines += [f"    if out is not None: return _into(out, {result})"]
    lines += [] if made.composite else _fast_path(made)
    lines += [f"    return {result}"]
    given = "{" + ", ".join(f"'{p.name}': {p.name}" for p in made.params) + "}"
    guarded = [
        "    try:",
        *["    " + line for line in lines[1:]],
        "    except _CAUGHT as _e:",
        f"        _f = _told(_op, _e, {given})",
        "        if _f is _e: raise",
        "        raise _f from _f.__cause__ or _cause_for(_f, _e)",
    ]
    return "\n".join([lines[0], *guarded]), defaults


def shown(made, out):
    params = list(made.params)
    if out is True:  # before a `name` that is keyword-only, else last
        at = len(params) - (params[-1].name == "name" and params[-1].kind is inspect.Parameter.KEYWORD_ONLY)
        params.insert(at, inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    return params


def _tuple(names):
    return "".join(n + ", " for n in names)


def _composite_call(made):
    parts = [
        "*" + p.name
        if p.kind is p.VAR_POSITIONAL
        else p.name + "=" + p.name
        if p.kind is p.KEYWORD_ONLY
        else p.name
        for p in made.params
    ]
    return f"_fn({', '.join(parts)})"


def _arguments(made):
    """The arguments of a composite as a tuple and a dict."""
    parts = [
        "*" + p.name if p.kind is p.VAR_POSITIONAL else p.name
        for p in made.params
        if p.kind is not p.KEYWORD_ONLY
    ]
    named = [f"'{p.name}': {p.name}" for p in made.params if p.kind is p.KEYWORD_ONLY]
    return f"({_tuple(parts)}), {{{', '.join(named)}}}"


def _fast_path(made):
    """Lines that serve a call on plain Tensors with attribute values seen before without any further
    Python function."""
    if made.lists or made.random or not made.tensors:
        return []
    optional = [t for t in made.tensors if t in made.optional]
    tests = [
        f"({t} is None or isinstance({t}, _Tensor))" if t in optional else f"isinstance({t}, _Tensor)"
        for t in made.tensors
    ]
    lines = [f"    if {' and '.join([*tests, '_local.ctx.amp is None'])}:"]
    key = f"({_tuple([*[f'{t} is None' for t in optional], *[f'type({a}), {a}' for a in made.attrs]])})"
    if made.attrs:
        lines += [f"        try: _k = _fast.get({key})", "        except TypeError: _k = None"]
        lines += [f"        if _k is None: _k = _fast.get(_with_ints({key}))"]
    else:
        lines += [f"        _k = _fast.get({key})"]
    lines += ["        if _k is not None:"]
    if len(made.tensors) <= 3:
        short = f"_run{len(made.tensors)}(_k, {', '.join(made.tensors)})"
    else:
        short = None
    if optional:
        if short:
            lines += [f"            if {' and '.join(f'{t} is not None' for t in optional)}: return {short}"]
        lines += [f"            return _run(_k, [_t for _t in ({_tuple(made.tensors)}) if _t is not None])"]
    else:
        lines += [f"            return {short or f'_run(_k, ({_tuple(made.tensors)}))'}"]
    lines += [f"        return _first(_op, ({_tuple(made.tensors)}), ({_tuple(made.attrs)}), lambda: {key})"]
    return lines
