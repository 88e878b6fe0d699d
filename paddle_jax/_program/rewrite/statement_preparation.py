"""Statements that malt does not know, in terms of those it knows."""

from __future__ import annotations

import ast
import copy
from typing import Any, NoReturn, TypeVar

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._program.rewrite.state_access import mangle

_Node = TypeVar("_Node", bound=ast.AST)


class StatementPreparation(ast.NodeTransformer):
    """`assert` becomes a call, `else` of a loop an `if`; annotations go, private names get
    their full form.

    Attributes:
        owner: name of the class that the code stands in, or None.
        loops: int, number of the loops with `else` so far.
    """

    def __init__(self, owner: str | None) -> None:
        self.owner = owner
        self.loops = 0

    def visit_Assert(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.msg is None:
            message = ast.Constant(None)
        else:
            # The message is evaluated only if the assertion fails.
            message = ast.Lambda(no_arguments(), node.msg)
        return _like(node, ast.Expr(operator_call("assert_stmt", node.test, message)))

    def visit_Try(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.handlers:
            # A handler may catch what a branch raises, which one program cannot: such branches are refused
            # there.
            node.body = [_like(node.body[0], ast.With([ast.withitem(operator_call("guarded"))], node.body))]
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: Any) -> Any:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        # An annotation alone is no statement for malt.
        if node.value is None:
            return _like(node, ast.Pass())
        return self.visit_Assign(_like(node, ast.Assign([node.target], node.value)))

    def visit_Assign(self, node: Any) -> Any:
        self.generic_visit(node)
        node.value = _growing(node.value)
        return node

    def visit_ListComp(self, node: Any) -> Any:
        self.generic_visit(node)
        loop = node.generators[0]
        # Python's own comprehension remains for nested loops, and for names that outlive it.
        is_plain = len(node.generators) == 1 and not loop.is_async
        if not is_plain or any(isinstance(n, ast.NamedExpr | ast.Yield | ast.Await) for n in ast.walk(node)):
            return node
        names = _target_names(loop.target)
        if names is None:
            return node
        if loop.ifs:
            condition = loop.ifs[0] if len(loop.ifs) == 1 else ast.BoolOp(ast.And(), loop.ifs)
            test: ast.expr = _function_of(names, copy.deepcopy(condition))
        else:
            test = ast.Constant(None)
        item = _function_of(names, copy.deepcopy(node.elt))
        over = loop.iter
        loop.iter = ast.Name("over_", ast.Load())
        return _like(node, operator_call("list_of", over, _function_of(["over_"], node), item, test))

    def visit_Attribute(self, node: Any) -> Any:
        self.generic_visit(node)
        node.attr = mangle(node.attr, self.owner)
        return node

    def visit_While(self, node: Any) -> Any:
        self.generic_visit(node)
        # The condition becomes a function, in which the name would be local.
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
            raise Unsupported("the condition of a while assigns a variable (:=); assign it in the loop")
        return self._without_else(node)

    def visit_For(self, node: Any) -> Any:
        return self._without_else(self.generic_visit(node))

    def _without_else(self, node: Any) -> Any:
        if not node.orelse:
            return node
        self.loops += 1
        # A flag that `break` sets tells whether `else` runs. malt does not know `else` of loops.
        name = f"left_{self.loops}_"
        orelse = node.orelse
        node.orelse = []
        node.body = [s for old in node.body for s in _Breaks(name).listed(old)]
        start = _like(node, ast.Assign([ast.Name(name, ast.Store())], ast.Constant(False)))
        end = _like(node, ast.If(ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())), orelse, []))
        return [start, node, end]

    def _refused(self, node: Any) -> NoReturn:
        raise Unsupported(f"the statement `{type(node).__name__.lower()}` cannot be converted")

    visit_Match = visit_TryStar = visit_AsyncFor = visit_AsyncWith = visit_Await = _refused


class _Breaks(ast.NodeTransformer):
    """Notes in a variable that a loop is left by `break`.

    Attributes:
        name: of the variable.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def listed(self, node: Any) -> list[Any]:
        new = self.visit(node)
        if isinstance(new, list):
            return new
        return [new]

    def visit_Break(self, node: Any) -> Any:
        return [_like(node, ast.Assign([ast.Name(self.name, ast.Store())], ast.Constant(True))), node]

    def _left_alone(self, node: Any) -> Any:
        return node

    # A `break` in there belongs to another loop.
    visit_For = visit_While = visit_FunctionDef = visit_Lambda = _left_alone


def _growing(value: Any) -> Any:
    """An expression in which new lists may grow, also those in new tuples, lists and dicts."""
    # Each list of `a, b = [], []` may grow in a loop.
    if isinstance(value, ast.Tuple | ast.List):
        value.elts = list(map(_growing, value.elts))
    # `found = {"boxes": [], "scores": []}`.
    if isinstance(value, ast.Dict):
        value.values = list(map(_growing, value.values))
    # As text, since there are several forms of the same node.
    if isinstance(value, ast.List) or ast.unparse(value) == "list()":
        return _like(value, operator_call("new_list", value))
    return value


def _target_names(target: ast.expr) -> list[str] | None:
    """The names that a loop assigns: one, or those of `for a, b in`; None for other targets."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple) and all(isinstance(one, ast.Name) for one in target.elts):
        # Packed, to tell `for a, in` from `for a in`.
        return ["", *[one.id for one in target.elts if isinstance(one, ast.Name)]]
    return None


def _function_of(names: list[str], body: ast.expr) -> ast.expr:
    """A function of one element of a loop, as syntax. names: as `_target_names` gives them."""
    if names[0]:
        return ast.Lambda(_positional(names), body)
    call = ast.Call(
        ast.Lambda(_positional(names[1:]), body), [ast.Starred(ast.Name("item_", ast.Load()), ast.Load())], []
    )
    return ast.Lambda(_positional(["item_"]), call)


def _positional(names: list[str]) -> ast.arguments:
    arguments = no_arguments()
    arguments.args = [ast.arg(name) for name in names]
    return arguments


def _like(old: ast.AST, new: _Node) -> _Node:
    return ast.fix_missing_locations(ast.copy_location(new, old))


def no_arguments() -> ast.arguments:
    """The arguments of a function without any, as syntax."""
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def operator_call(name: str, *args: Any) -> ast.Call:
    """A call of one of our statements, as syntax."""
    return ast.Call(ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load()), list(args), [])
