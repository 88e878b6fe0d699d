"""The rewriting itself: malt's converters with our statements in place of its own. Importing this module
imports the whole of malt."""

from __future__ import annotations

import ast
import importlib.util  # noqa: F401  malt uses it without importing it
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

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
from malt.pyct.static_analysis import activity, annos, liveness, reaching_definitions, reaching_fndefs

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.interrupt_safe import run_unrecorded
from paddle_jax._core.base.state import Observing
from paddle_jax._program.control_flow import lookups, statements
from paddle_jax._program.control_flow.comprehensions import list_of
from paddle_jax._program.control_flow.growing_lists import new_list
from paddle_jax._program.control_flow.region import Undefined, Unreturned, is_traced
from paddle_jax._program.guards.observer_view import ObserverView
from paddle_jax._program.rewrite.call_policy import mark_converted
from paddle_jax._program.rewrite.code_log import CodeLog
from paddle_jax._program.rewrite.source import (
    class_name_of,
    compile_factory,
    make_function,
    nested_codes,
    wrap_in_factory,
)
from paddle_jax._program.rewrite.state_access import OBSERVER, Unobservable, rewrite_reads
from paddle_jax._program.rewrite.statement_preparation import (
    StatementPreparation,
    no_arguments,
    operator_call,
)

# The statements of our own that malt's output calls. Lookups, lists and calls come from other modules.
_STATEMENTS = (
    "if_stmt",
    "while_stmt",
    "for_stmt",
    "and_",
    "or_",
    "not_",
    "if_exp",
    "assert_stmt",
    "guarded",
    "tested",
    "item",
    "ld",
    "ldu",
    "put_attribute",
    "put_item",
)
# BUILTIN_FUNCTIONS: calls of `len`, `print` and others are converted as well, and `converted_call` decides.
_OPTIONS = converter.ConversionOptions(
    recursive=True,
    user_requested=True,
    optional_features=(converter.Feature.BUILTIN_FUNCTIONS,),  # pyright: ignore[reportArgumentType]
)


class Scope:
    """The frame of a converted function.

    Attributes:
        name: of the variable that holds this object in the converted code.
        callopts: what malt's calls ask for; nothing here.
    """

    # malt passes options in a form of its own, which we do not need.
    def __init__(self, function: Any, name: str, options: Any) -> None:
        self.name = name
        self.callopts = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: Any) -> bool:
        return False

    def ret(self, value: Any, returned: Any) -> Any:
        """What the function returns."""
        # A way without `return` gives None, as in Python.
        if isinstance(value, Undefined):
            return None
        # Whether the function has returned depends on a Tensor, so one way has a result and another one has
        # none.
        if is_traced(returned):
            raise Unsupported(
                "a function returns nothing on one of its ways, depending on a tensor; add a return to each"
            )
        return value


# A lambda has no statements, and so no place for `with`.
def _with_scope(code: Any, name: str, options: Any) -> Any:
    with Scope("lambda", name, options) as scope:
        return code(scope)


# Names of `_OPERATORS` that are not ours are what malt writes into the code.
# what converted code calls, under the names that malt gives it
_OPERATORS = {
    **{name: getattr(statements, name) for name in _STATEMENTS},
    **{name: getattr(lookups, name) for name in lookups.__all__},
    "list_of": list_of,
    "new_list": new_list,
    "FunctionScope": Scope,
    "with_function_scope": _with_scope,
    "Undefined": Undefined,
    "UndefinedReturnValue": Unreturned,
    "autograph_artifact": mark_converted,
    "ConversionOptions": converter.ConversionOptions,
    "Feature": converter.Feature,
    "STD": converter.STANDARD_OPTIONS,
}


# how malt's names of the functions of blocks begin
_BODIES = ("loop_body", "if_body", "else_body")


class _Flow(control_flow.ControlFlowTransformer):
    """Writing into a Tensor at an index is seen by tracing, not as a variable of its own. Attributes and
    items that are not there are taken away again."""

    # malt gives getter and setter functions for the variables of a block; the last statement of each has
    # them.
    def _create_state_functions(self, block_vars: Any, *more: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        functions = super()._create_state_functions(block_vars, *more)
        if block_vars:
            getters = functions[0].body[-1].value.elts
            setter = functions[1].body
            targets = setter[-1].targets[0].elts
            for i, target in enumerate(targets):
                # Elements of a Tensor are no variables: `item` gives a mark for them.
                if isinstance(target, ast.Subscript):
                    getters[i].args[0].body = operator_call("item", target.value, target.slice)
                # An attribute or item cannot be assigned to by a plain name of the setter: it is put after
                # it.
                if not isinstance(target, ast.Name):
                    targets[i] = ast.Name(f"new_{i}_", ast.Store())
                    setter.append(_stored(target, f"new_{i}_"))
        return functions

    def _get_block_composite_vars(self, modified: Any, live_in: Any) -> frozenset[Any]:
        symbols = super()._get_block_composite_vars(modified, live_in)
        # `x[i] = v` on a Tensor is an operation that the trace sees, so the item is no variable of the
        # block.
        return frozenset(s for s in symbols if not any(q.has_subscript() for q in _bases(s)))

    def visit_If(self, node: Any) -> Any:
        return self._with_own_variables(node, super().visit_If(node), ("BODY_SCOPE", "ORELSE_SCOPE"))

    def visit_While(self, node: Any) -> Any:
        return self._with_own_variables(node, super().visit_While(node), ("BODY_SCOPE",))

    def visit_For(self, node: Any) -> Any:
        return self._with_own_variables(node, super().visit_For(node), ("BODY_SCOPE", "ITERATE_SCOPE"))

    def _with_own_variables(self, node: Any, statements: list[Any], scopes: Sequence[str]) -> list[Any]:
        """Makes variables that are used inside one block alone local to the function of that block.

        malt leaves them to the function around it where they have a value from before, or from the last
        step. A statement inside would then change a variable outside.
        """
        annotated: list[Any] = [anno.getanno(node, getattr(annos.NodeAnno, scope)) for scope in scopes]
        bound: frozenset[Any] = frozenset().union(*[scope.bound for scope in annotated])
        of_block, _, _ = self._get_block_vars(node, bound)
        scope = self.state[control_flow._Function].scope
        symbols = bound - set(of_block) - scope.globals - scope.nonlocals
        own = {str(symbol) for symbol in symbols if not symbol.is_composite()}
        for function in statements:
            if not isinstance(function, ast.FunctionDef) or not function.name.startswith(_BODIES):
                continue
            inner = [one for one in ast.walk(function) if isinstance(one, ast.Nonlocal)]
            names = sorted(own.intersection(name for one in inner for name in one.names))
            start = sum(isinstance(one, ast.Nonlocal | ast.Global) for one in function.body)
            function.body[start:start] = [_undefined(name) for name in names]
        return statements


def _undefined(name: str) -> ast.Assign:
    """`name = ag__.Undefined("name")`."""
    return ast.Assign([ast.Name(name, ast.Store())], operator_call("Undefined", ast.Constant(name)))


class Transpiler(base.GenericTranspiler):
    """Converts functions, keeping the code by the code object it was made of.

    Attributes:
        codes: code object -> {whether an observer sees its reads: converted code}.
        operators: namespace of the functions that converted code calls.
    """

    def __init__(self, converted_call: Callable[..., Any]) -> None:
        super().__init__()
        # Weak, so that functions which are made again and again (closures, lambdas) do not pile up.
        self.codes = weakref.WeakKeyDictionary()
        self.operators = types.SimpleNamespace(**_OPERATORS, converted_call=converted_call)

    def transform_ast(self, node: Any, ctx: Any) -> Any:
        # In malt's own order: each step finds only statements that it knows.
        node = StatementPreparation(ctx.user.owner).visit(node)
        unsupported_features_checker.verify(node)
        node = self.analysed(node, ctx, reaching_definitions)
        # The definitions of the user's own names, from before the steps add names.
        anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
        for step in (functions, break_statements, continue_statements, return_statements, call_trees):
            node = step.transform(node, ctx)
        node = self.analysed(node, ctx, reaching_definitions, reaching_fndefs, liveness)
        # Conditions first: they must see `and` and `or` of the user's code, which the later steps replace.
        flow: Any = _Flow(ctx)
        node = _Ternaries().visit(flow.visit(_Conditions().visit(node)))
        # The observer reads items itself; a call in their place would hide them from it.
        if not ctx.user.observed:  # an observer has to see what is read
            node = _Lookups().visit(node)
        return variables.transform(logical_expressions.transform(node, ctx), ctx)

    def analysed(self, node: Any, ctx: Any, *analyses: Any) -> Any:
        # Each step changes the tree, so the analyses are made again.
        graphs = cfg.build(node)
        node = activity.resolve(qual_names.resolve(node), ctx, None)
        for analysis in analyses:
            node = analysis.resolve(node, ctx, graphs)
        return node

    def converted(self, function: types.FunctionType) -> types.FunctionType:
        """The converted form of a function, observed while a run is observed."""
        observer: Any = None
        if Observing.observer is not None and Observing.observer.is_current_thread():
            observer = Observing.observer
        is_observed = observer is not None
        codes = self.codes.setdefault(function.__code__, {})
        # Two forms: with reads that an observer sees, and without.
        if is_observed not in codes:
            try:
                # Rewriting runs no code of the user.
                codes[is_observed] = run_unrecorded(lambda: self.code_of(function, is_observed))
            # Some statements cannot be observed. What they read is not guarded then, and the function is
            # compiled all the same.
            except Unobservable as error:
                observer.mark_unguarded(f"{function.__qualname__}: {error}")
                codes[is_observed] = self.code_of(function, False)
        code = codes[is_observed]
        result = make_function(
            function,
            code,
            lambda cells: (self.operators, observer and ObserverView(observer, function, cells)),
        )
        # Code that runs in the capture and is not among these was seen by no observer, see `CodeRecorder`.
        if is_observed:
            observer.observed_codes.update(nested_codes(code))
        return mark_converted(result)

    def code_of(self, function: types.FunctionType, observed: bool) -> types.CodeType:
        """Code that makes the converted function of the operators, in a scope with the
        variables of its closure."""
        program: Any = converter.ProgramContext(options=_OPTIONS)
        program.owner = class_name_of(function)
        program.observed = observed
        node, ctx = self.transform_function(function, program)
        # The code of a factory: its result closes over the operators, the observer and the user's
        # variables.
        frame = wrap_in_factory(node, ctx.info.name, function, f"ag__, {OBSERVER}")
        text = ast.unparse(frame)
        CodeLog.show(function, text)
        # Python compiles only trees with lines, and those that malt makes have none: written out and read
        # again they do.
        tree = ast.parse(text)
        _place(
            frame,
            tree,
            function.__code__.co_firstlineno,
            lambda n: anno.getanno(n, anno.Basic.ORIGIN, default=None),
        )
        if observed:
            factory: Any = tree.body[0]
            # The function itself is the first statement of the inner function, see `wrap_in_factory`.
            inner = factory.body[-2].body
            # A lambda is assigned to a name there.
            if isinstance(inner[0], ast.Assign):
                inner[0].value = rewrite_reads(inner[0].value, function.__code__.co_freevars)
            else:
                inner[0] = rewrite_reads(inner[0], function.__code__.co_freevars)
            ast.fix_missing_locations(tree)
        return compile_factory(tree, function)


def _stored(target: Any, name: str) -> ast.Expr:
    """`target = name` for an attribute or item, as a call."""
    if isinstance(target, ast.Attribute):
        key = ast.Constant(target.attr)
        put = "put_attribute"
    else:
        key = target.slice
        put = "put_item"
    return ast.Expr(operator_call(put, target.value, key, ast.Name(name, ast.Load())))


class _Conditions(ast.NodeTransformer):
    """In the condition of a statement the parts of `and` and `or` count by their truth only."""

    def visit(self, node: Any) -> Any:
        self.generic_visit(node)
        # `a and b` in a condition need not give one of the two values, so a Tensor of several elements is
        # refused there and not later.
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            node.test = self._by_truth(node.test)
        return node

    def _by_truth(self, node: Any) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._by_truth(node.operand)
        elif isinstance(node, ast.BoolOp):
            node.values = [self._truth_part(value) for value in node.values]
        return node

    def _truth_part(self, node: Any) -> Any:
        # Comparisons and constants have truth values; a call for them would cost time alone.
        if isinstance(node, ast.Compare | ast.Constant):
            return node  # of these the truth is the value
        is_nested = isinstance(node, ast.BoolOp | ast.UnaryOp)
        if is_nested:
            return self._by_truth(node)
        return operator_call("tested", node)


class _Ternaries(ast.NodeTransformer):
    """`a if test else b` as a call."""

    def visit_IfExp(self, node: Any) -> Any:
        self.generic_visit(node)
        return operator_call(
            "if_exp",
            node.test,
            # Lambdas, as only one of the two may run where the test is no Tensor.
            ast.Lambda(no_arguments(), node.body),
            ast.Lambda(no_arguments(), node.orelse),
        )


_ORDERS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


class _Lookups(ast.NodeTransformer):
    """`container[key]`, `value in container` and comparisons of tuples as calls, where a number may be
    made of unknown lengths."""

    def visit_Subscript(self, node: Any) -> Any:
        self.generic_visit(node)
        # Constants, slices and texts have no numbers made of lengths. Writing goes through `put_item`.
        is_plain = isinstance(node.slice, ast.Constant | ast.Slice | ast.Tuple | ast.JoinedStr)
        if is_plain or not isinstance(node.ctx, ast.Load):
            return node
        return operator_call("item_at", node.value, node.slice)

    def visit_Compare(self, node: Any) -> Any:
        self.generic_visit(node)
        # `a < b < c` evaluates `b` once, which two calls would not.
        if len(node.ops) != 1:
            return node
        name = _ORDERS.get(type(node.ops[0]))
        # Tuples of lengths are compared item by item, in the file.
        if name is not None and any(
            isinstance(one, ast.Tuple | ast.List) for one in (node.left, *node.comparators)
        ):
            return operator_call("ordered", ast.Constant(name), node.left, node.comparators[0])
        if not isinstance(node.ops[0], ast.In | ast.NotIn):
            return node
        if isinstance(node.ops[0], ast.In):
            name = "contains"
        else:
            name = "lacks"
        return operator_call(name, node.comparators[0], node.left)


def _bases(symbol: Any) -> Iterator[Any]:
    """What a composite name is made of, without itself: a.b and a of a.b['c']."""
    while symbol.is_composite():
        symbol = symbol.parent
        yield symbol


def _place(before: Any, after: Any, line: int, origin_of: Callable[[Any], Any]) -> None:
    """Gives code that was written out and read again the lines it came from, so that errors show
    the user's lines."""
    origin = origin_of(before)
    if origin is not None:
        line = origin.loc.lineno
    if hasattr(after, "lineno"):
        after.lineno = after.end_lineno = line
        after.col_offset = after.end_col_offset = 0
    old = list(ast.iter_child_nodes(before))
    # malt copies nodes and moves them; where the shapes of the trees differ, the line of the enclosing node
    # is used.
    new = list(ast.iter_child_nodes(after))
    for i, child in enumerate(new):
        _place(old[i] if len(old) == len(new) else before, child, line, origin_of)
