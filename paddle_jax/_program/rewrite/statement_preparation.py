"""Statements that malt does not know, in terms of those it knows."""

from __future__ import annotations

import ast
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
        # Each list of `a, b = [], []` may grow in a loop.
        if isinstance(node.value, ast.Tuple):
            node.value.elts = list(map(_growing, node.value.elts))
        else:
            node.value = _growing(node.value)
        return node

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
    """The expression of a new list as one that may grow; others as they are."""
    # As text, since there are several forms of the same node.
    if isinstance(value, ast.List) or ast.unparse(value) == "list()":
        return _like(value, operator_call("new_list", value))
    return value


def _like(old: ast.AST, new: _Node) -> _Node:
    return ast.fix_missing_locations(ast.copy_location(new, old))


def no_arguments() -> ast.arguments:
    """The arguments of a function without any, as syntax."""
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def operator_call(name: str, *args: Any) -> ast.Call:
    """A call of one of our statements, as syntax."""
    return ast.Call(ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load()), list(args), [])
