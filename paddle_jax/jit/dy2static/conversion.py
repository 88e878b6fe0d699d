"""Source conversion: diastatic-malt rewrites the statements and calls of a function into calls of `statements` and `calls`."""

import __future__

import ast
import contextlib
import functools as ft
import importlib.util  # noqa: F401  malt uses it without importing it
import types
import weakref

from paddle_jax._core.errors import TRACING, Unsupported
from paddle_jax._core.state import Observing
from paddle_jax.jit.dy2static import statements
from paddle_jax.jit.dy2static.calls import converted_call, converted_forwards, is_plain, lifted
from paddle_jax.jit.dy2static.log import CodeLog
from paddle_jax.jit.dy2static.parts import Undefined, Unreturned, is_traced
from paddle_jax.jit.dy2static.preparation import Prepared, class_of, no_arguments
from paddle_jax.jit.observed.reads import View
from paddle_jax.jit.observed.rewriting import READS, NotCovered, rewritten
from paddle_jax.jit.observed.source import nested
from paddle_jax.nn.layer.layers import Layer

_STATEMENTS = ("if_stmt", "while_stmt", "for_stmt", "and_", "or_", "not_", "if_exp", "assert_stmt", "guarded", "item", "ld", "ldu",
               "put_attribute", "put_item")
_FUTURE = ft.reduce(lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0)


def convert(function):
    """Makes a function whose control flow may hang on traced Tensors: `if`, `while`, `for`, `and`, `assert` and so on become compiled branches and
    loops.

    Args:
        function: function, method, lambda, Layer (its `forward`) or other callable. What it calls is converted on the way, if it is not Paddle's,
            JAX's, NumPy's or Python's own, and not marked with `paddle.jit.not_to_static`.
    Returns:
        A callable of the same arguments.
    Raises:
        Unsupported: the source is not there, or it has something that cannot be converted.
    """
    transpiler()
    if isinstance(function, types.FunctionType) and not is_plain(function):
        return transformed(function, strict=True)
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType) and not is_plain(function.__func__):
        return types.MethodType(transformed(function.__func__, strict=True), function.__self__)
    if isinstance(function, Layer):
        forward = type(function).forward
        if isinstance(forward, types.FunctionType) and not is_plain(forward):
            transformed(forward, strict=True)
    made = lifted(function)
    return ft.partial(_of_a_library, function) if made is function else made


def _of_a_library(function, *args, **kwargs):
    """Calls a function that is not the user's: what is, in a Layer it belongs to, runs converted."""
    owner = getattr(function, "__self__", args[0] if args else None)
    with converted_forwards(owner) if isinstance(owner, Layer) else contextlib.nullcontext():
        return function(*args, **kwargs)


def transformed(function, strict=False):
    """The converted form of a plain function, sharing its closure, defaults and attributes. Where there is none, Unsupported is raised: with `strict`
    at once, else when the function turns out to need it."""
    try:
        return transpiler().converted(function)
    except Exception as error:
        code = function.__code__
        reason = " ".join(str(error).split()) or type(error).__name__
        refusal = Unsupported(f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno}) cannot be converted: {reason}")
        if strict:
            raise refusal from error

    @ft.wraps(function)
    def unconverted(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TRACING as error:
            raise refusal from error

    return _artifact(unconverted)


class Scope:
    """The frame of a converted function."""

    def __init__(self, function, name, options):
        self.name, self.callopts = name, None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def ret(self, value, returned):
        """What the function returns."""
        if isinstance(value, Undefined):
            return None
        if is_traced(returned):
            raise Unsupported("a function returns nothing on one of its ways, depending on a tensor; add a return to each")
        return value


def _with_scope(code, name, options):
    with Scope("lambda", name, options) as scope:
        return code(scope)


def _artifact(function, extras=None):
    """Marks what is converted already."""
    function.autograph_info__ = extras
    return function


@ft.cache
def transpiler():
    """malt's transpiler with our statements; made when it is first needed, which is rare."""
    import malt.impl.api  # noqa: F401  the whole of malt, in the order it needs
    from malt.converters import (
        break_statements,
        call_trees,
        continue_statements,
        control_flow,
        functions,
        logical_expressions,
        return_statements,
        variables,
    )
    from malt.core import converter, unsupported_features_checker
    from malt.pyct import anno, cfg, qual_names
    from malt.pyct import transpiler as base
    from malt.pyct.static_analysis import activity, liveness, reaching_definitions, reaching_fndefs

    options = converter.ConversionOptions(recursive=True, user_requested=True, optional_features=(converter.Feature.BUILTIN_FUNCTIONS,))
    operators = types.SimpleNamespace(**{name: getattr(statements, name) for name in _STATEMENTS})
    operators.converted_call, operators.FunctionScope, operators.with_function_scope = converted_call, Scope, _with_scope
    operators.Undefined, operators.UndefinedReturnValue, operators.autograph_artifact = Undefined, Unreturned, _artifact
    operators.ConversionOptions, operators.Feature, operators.STD = converter.ConversionOptions, converter.Feature, converter.STANDARD_OPTIONS

    class Flow(control_flow.ControlFlowTransformer):
        """Writing into a Tensor at an index is seen by tracing, not as a variable of its own. Attributes and items that are not there are taken away
        again."""

        def _create_state_functions(self, block_vars, *more):
            made = super()._create_state_functions(block_vars, *more)
            if block_vars:
                getters, setter = made[0].body[-1].value.elts, made[1].body
                targets = setter[-1].targets[0].elts
                for i, target in enumerate(targets):
                    if isinstance(target, ast.Subscript):
                        getters[i].args[0].body = _operator("item", target.value, target.slice)
                    if not isinstance(target, ast.Name):
                        targets[i] = ast.Name(f"new_{i}_", ast.Store())
                        setter.append(_stored(target, f"new_{i}_"))
            return made

        def _get_block_composite_vars(self, modified, live_in):
            found = super()._get_block_composite_vars(modified, live_in)
            return frozenset(s for s in found if not any(q.has_subscript() for q in _bases(s)))

    class Transpiler(base.GenericTranspiler):
        """Converts functions, keeping the code by the code object it was made of."""

        def __init__(self):
            super().__init__()
            self.made = weakref.WeakKeyDictionary()

        def transform_ast(self, node, ctx):
            node = Prepared(ctx.user.owner).visit(node)
            unsupported_features_checker.verify(node)
            node = self.analysed(node, ctx, reaching_definitions)
            anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
            for step in (functions, break_statements, continue_statements, return_statements, call_trees):
                node = step.transform(node, ctx)
            node = self.analysed(node, ctx, reaching_definitions, reaching_fndefs, liveness)
            node = _Ternaries().visit(Flow(ctx).visit(node))
            return variables.transform(logical_expressions.transform(node, ctx), ctx)

        def analysed(self, node, ctx, *analyses):
            graphs = cfg.build(node)
            node = activity.resolve(qual_names.resolve(node), ctx, None)
            for analysis in analyses:
                node = analysis.resolve(node, ctx, graphs)
            return node

        def converted(self, function):
            reads = Observing.reads if Observing.reads is not None and Observing.reads.here() else None
            known = self.made.setdefault(function.__code__, {})
            if (reads is None) not in known:
                try:
                    known[reads is None] = self.code_of(function, reads is not None)
                except NotCovered as error:
                    reads.uncovered(f"{function.__qualname__}: {error}")
                    known[False] = self.code_of(function, False)
            code = known[reads is None]
            cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
            factory = types.FunctionType(code, function.__globals__, closure=tuple([cells[name] for name in code.co_freevars]))
            made = factory(operators, reads and View(reads, function, cells))
            if reads is not None:
                reads.codes.update(nested(code))
            made.__dict__.update(function.__dict__)
            made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
            made.__name__, made.__qualname__, made.__doc__, made.__module__ = (function.__name__, function.__qualname__, function.__doc__,
                                                                               function.__module__)
            return _artifact(made)

        def code_of(self, function, observed):
            """Code that makes the converted function of the operators, in a scope with the variables of its closure."""
            program = converter.ProgramContext(options=options)
            program.owner = class_of(function)
            node, ctx = self.transform_function(function, program)
            if isinstance(node, ast.Lambda):
                node = ast.Assign([ast.Name(ctx.info.name, ast.Store())], node)
            else:
                node.name = ctx.info.name
            free = "".join([f"    {name} = None\n" for name in function.__code__.co_freevars])
            frame = ast.parse(f"def outer():\n{free}    def inner(ag__, {READS}):\n        pass\n        return {ctx.info.name}\n    return inner")
            frame.body[0].body[-2].body[0] = node
            text = ast.unparse(ast.fix_missing_locations(frame))
            CodeLog.show(function, text)
            tree = ast.parse(text)
            _place(frame, tree, function.__code__.co_firstlineno, lambda n: anno.getanno(n, anno.Basic.ORIGIN, default=None))
            if observed:
                inner = tree.body[0].body[-2].body
                if isinstance(inner[0], ast.Assign):
                    inner[0].value = rewritten(inner[0].value, function.__code__.co_freevars)
                else:
                    inner[0] = rewritten(inner[0], function.__code__.co_freevars)
                ast.fix_missing_locations(tree)
            scope: dict = {"__name__": __name__}
            compiled = compile(tree, function.__code__.co_filename, "exec", flags=function.__code__.co_flags & _FUTURE, dont_inherit=True)
            exec(compiled, scope)  # noqa: S102  the user's function, rewritten
            return scope["outer"]().__code__

    return Transpiler()


def _stored(target, name):
    """`target = name` for an attribute or item, as a call."""
    key = ast.Constant(target.attr) if isinstance(target, ast.Attribute) else target.slice
    put = "put_attribute" if isinstance(target, ast.Attribute) else "put_item"
    return ast.Expr(_operator(put, target.value, key, ast.Name(name, ast.Load())))


def _operator(name, *args):
    """A call of one of our statements."""
    return ast.Call(ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load()), list(args), [])


class _Ternaries(ast.NodeTransformer):
    """`a if test else b` as a call."""

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return _operator("if_exp", node.test, ast.Lambda(no_arguments(), node.body), ast.Lambda(no_arguments(), node.orelse))


def _bases(symbol):
    """What a composite name is made of, without itself: a.b and a of a.b['c']."""
    while symbol.is_composite():
        symbol = symbol.parent
        yield symbol


def _place(before, after, line, origin_of):
    """Gives code that was written out and read again the lines it came from, so that errors show the user's lines."""
    origin = origin_of(before)
    line = line if origin is None else origin.loc.lineno
    if hasattr(after, "lineno"):
        after.lineno = after.end_lineno = line
        after.col_offset = after.end_col_offset = 0
    old, new = list(ast.iter_child_nodes(before)), list(ast.iter_child_nodes(after))
    for i, child in enumerate(new):
        _place(old[i] if len(old) == len(new) else before, child, line, origin_of)
