"""Rewriting of a function so that its reads pass through `observer__`, the observer of a run. What it
computes stays the same."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from typing import Any, NoReturn

OBSERVER = "observer__"  # the name of the observer in rewritten code
_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.ClassDef,
)
# how the observer is shown what stands in a field of a node
# Only reads whose result a number, container or array from outside may decide.
_SHOWN = {
    (ast.BinOp, "left"): "read_operand",
    (ast.BinOp, "right"): "read_operand",
    (ast.FormattedValue, "value"): "read_operand",
    (ast.BoolOp, "values"): "read_truth",
    (ast.If, "test"): "read_truth",
    (ast.IfExp, "test"): "read_truth",
    (ast.While, "test"): "read_truth",
    (ast.Assert, "test"): "read_truth",
    (ast.For, "iter"): "read_iterable",
    (ast.YieldFrom, "value"): "read_iterable",
}
# what it need not be shown so
_PLAIN = {
    # Their value is in the code, or is made of parts that are observed themselves.
    "read_operand": (ast.Constant, ast.JoinedStr),
    "read_truth": (ast.Compare, ast.Constant, ast.BoolOp),
}
# of calls of what converted code is made of, how it is shown the first argument
_FIRST = {
    "if_stmt": "read_truth",
    "if_exp": "read_truth",
    "not_": "read_truth",
    "assert_stmt": "read_truth",
    "for_stmt": "read_iterable",
}
# expressions whose value may come from outside
_LOOKED_UP = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


class Unobservable(Exception):
    """A statement whose reads are not observed."""


class OutsideAssignment(Unobservable):
    """A variable outside the function is changed in place."""


def rewrite_reads(node: Any, free: Iterable[str], owner: str | None = None) -> Any:
    """A copy of a function's node in which reads are observed.

    free: the names of its variables of enclosing functions. owner: the name of the class it stands in,
    for private names.
    """
    return _Rewriting(set(free), owner).top(copy.deepcopy(node))


def bound_names(node: ast.AST) -> set[str]:
    """The names that are local to a function, class, lambda or comprehension."""
    bound: set[str] = set()
    # `global x` makes a binding in the function one of the module.
    declared_outside: set[str] = set()  # by `global` and `nonlocal`
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        bound.update(arg.arg for arg in _parameters(node))
    work = _binding_parts(node)
    while work:
        inner = work.pop()
        bound.update(_names_bound_by(inner))
        if isinstance(inner, ast.Global | ast.Nonlocal):
            declared_outside.update(inner.names)
        work += _parts_in_same_scope(inner)
    return bound - declared_outside


def _binding_parts(node: Any) -> list[ast.AST]:
    """The parts of a function, class, lambda or comprehension that may bind names in its scope."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return list(node.body)
    if isinstance(node, ast.Lambda):
        return [node.body]
    return [generator.target for generator in node.generators]


def _names_bound_by(node: ast.AST) -> list[str]:
    """The names that one node binds, without the nodes inside it."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            return []
        return [node.id]
    # `import a.b` binds `a`.
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    name = None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = node.name
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        name = node.name
    elif isinstance(node, ast.MatchMapping):
        name = node.rest
    if name is None:
        return []
    return [name]


def _parts_in_same_scope(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that belong to the scope in which the node stands."""
    # Its body is a scope of its own; decorators are evaluated outside.
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return list(node.decorator_list)
    if isinstance(node, _SCOPES):  # `:=` in a comprehension binds in the scope around it
        return [part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
    return list(ast.iter_child_nodes(node))


def _parameters(node: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    return [arg for arg in ast.iter_child_nodes(node.args) if isinstance(arg, ast.arg)]


def mangle(name: str, owner: str | None) -> str:
    """A name as the class that the code stands in makes it of a private one."""
    if owner is not None and name.startswith("__") and not name.endswith("__"):
        return f"_{owner.lstrip('_')}{name}"
    return name


class _Rewriting(ast.NodeTransformer):
    """Rewrites the node of a function.

    Attributes:
        free: names of the variables of enclosing functions.
        owner: name of the class that the code stands in, for private names; or None.
        scopes: sets of the names that are local where the visitor is, the innermost one last.
    """

    def __init__(self, free: Iterable[str], owner: str | None) -> None:
        self.free = free
        self.owner = owner
        self.scopes: list[set[str]] = []

    def top(self, node: Any) -> Any:
        """The outermost function, without decorators, defaults and annotations."""
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            # Defaults are evaluated when the function is defined: `make_function` copies them.
            node.returns = None
        args = node.args
        args.defaults = [ast.Constant(None) for _ in args.defaults]
        args.kw_defaults = [d and ast.Constant(None) for d in args.kw_defaults]
        for arg in _parameters(node):
            arg.annotation = None
        self._body(node)
        return node

    def _body(self, node: Any) -> None:
        # Names of this scope are not read from outside.
        self.scopes.append(bound_names(node))
        node.body = self._visited(node.body)
        self.scopes.pop()

    def generic_visit(self, node: Any) -> Any:
        for field, value in ast.iter_fields(node):
            setattr(node, field, self._visited(value, _SHOWN.get((type(node), field))))
        return node

    def _visited(self, value: Any, shown: str | None = None) -> Any:
        """What stands in a field: a node, a list, or anything else. shown: how the observer is shown it."""
        if isinstance(value, list):
            nodes: list[Any] = []
            for part in value:
                visited = self._visited(part, shown)
                # An import becomes itself and a read.
                if isinstance(visited, list):  # a statement may become several
                    nodes.extend(visited)
                else:
                    nodes.append(visited)
            return nodes
        if not isinstance(value, ast.AST):
            return value
        node = self.visit(value)
        # A constant, or a comparison (whose operands are observed), needs no look at the whole.
        if shown is None or isinstance(value, _PLAIN.get(shown, ())):
            return node
        return self._read(shown, node, like=value)

    def _read(self, what: str, *args: Any, like: ast.AST) -> Any:
        call = ast.Call(ast.Attribute(ast.Name(OBSERVER, ast.Load()), what, ast.Load()), list(args), [])
        return ast.fix_missing_locations(ast.copy_location(call, like))

    # names, attributes, items -------------------------------------------------------------------------------

    def visit_Name(self, node: Any) -> Any:
        # Assigned names, our own, and local variables: nothing from outside.
        if (
            not isinstance(node.ctx, ast.Load)
            or node.id in (OBSERVER, "ag__")
            or any(node.id in scope for scope in self.scopes)
        ):
            return node
        node.id = mangle(node.id, self.owner)
        kind = "read_cell" if node.id in self.free else "read_global"
        return self._read(kind, ast.Constant(node.id), node, like=node)

    def visit_Attribute(self, node: Any) -> Any:
        # Our operators are attributes of `ag__`.
        if isinstance(node.value, ast.Name) and node.value.id in (OBSERVER, "ag__"):
            return node
        node.attr = mangle(node.attr, self.owner)
        value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return self._read("read_attribute", value, ast.Constant(node.attr), like=node)
        # Assigning or deleting: the object changes, and the observer has to know its content from before.
        node.value = self._read("before_set_attribute", value, ast.Constant(node.attr), like=node)
        return node

    def visit_Subscript(self, node: Any) -> Any:
        value = self.visit(node.value)
        key = self._key(self.visit(node.slice))
        if isinstance(node.ctx, ast.Load):
            return self._read("read_item", value, _as_value(key), like=node)
        node.value = self._read("before_set_item", value, like=node)
        node.slice = key
        return node

    def _key(self, key: Any) -> Any:
        """What stands between brackets, with the content of lists and arrays in it read."""
        # Lists and arrays as keys select elements by their content.
        if isinstance(key, ast.Tuple):
            key.elts = [self._key(part) for part in key.elts]
        elif isinstance(key, _LOOKED_UP):
            return self._read("read_operand", key, like=key)
        return key

    # expressions --------------------------------------------------------------------------------------------

    def visit_Call(self, node: Any) -> Any:
        # `super()` without arguments looks for `__class__` in its frame, so it must stay a plain call.
        if isinstance(node.func, ast.Name) and node.func.id == "super" or _is_ours(node.func):
            return self._inner_call(node)
        function = self.visit(node.func)
        named = ast.Dict(
            [k.arg and ast.Constant(k.arg) for k in node.keywords],
            # A starred mapping, `**options`, is read as a whole.
            [self._visited(k.value, None if k.arg else "read_content") for k in node.keywords],
        )
        return self._read("call", function, ast.Tuple(self._visited(node.args), ast.Load()), named, like=node)

    def _inner_call(self, node: Any) -> Any:
        """A call of what converted code is made of: a condition or what is iterated over is
        its first argument."""
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
        else:
            name = "super"
        node.args = self._visited(node.args)
        node.keywords = self._visited(node.keywords)
        if name in _FIRST and node.args:
            node.args[0] = self._read(_FIRST[name], node.args[0], like=node)
        return node

    def visit_Starred(self, node: Any) -> Any:
        node.value = self._visited(node.value, "read_iterable" if isinstance(node.ctx, ast.Load) else None)
        return node

    def _new(self, node: Any) -> Any:
        node = self.generic_visit(node)
        # The items of `**other` come from outside.
        if isinstance(node, ast.Dict):  # of `**other` the content is read
            node.values = [
                v if k else self._read("read_mapping", v, like=v)
                for k, v in zip(node.keys, node.values, strict=True)
            ]
        # `[a, b] = pair` is a target, not a new list.
        if isinstance(getattr(node, "ctx", None), ast.Load) or not hasattr(node, "ctx"):
            return self._read("mark_created", node, like=node)
        return node

    visit_List = visit_Dict = visit_Set = _new

    def _comprehension(self, node: Any) -> Any:
        # The first iterable is evaluated outside the comprehension's scope, as Python does it.
        first = node.generators[0]
        first.iter = self._visited(first.iter, "read_iterable")
        self.scopes.append(bound_names(node))
        for generator in node.generators:
            if generator.is_async:
                raise Unobservable("an asynchronous comprehension")
            if generator is not first:
                generator.iter = self._visited(generator.iter, "read_iterable")
            generator.ifs = self._visited(generator.ifs, "read_truth")
            self._visit_unpacked(generator)
        for field in node._fields[:-1]:  # the last one has the generators
            setattr(node, field, self.visit(getattr(node, field)))
        self.scopes.pop()
        # A generator is no container that could be changed.
        if isinstance(node, ast.GeneratorExp):
            return node
        return self._read("mark_created", node, like=node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _visit_unpacked(self, node: Any) -> Any:
        """What a loop goes over, whose items it may take apart."""
        # `for a, b in pairs`: the items are read as well.
        if not isinstance(node.target, ast.Name):
            node.iter = self._read("read_pairs", node.iter, like=node.iter)
        return node

    def visit_Lambda(self, node: Any) -> Any:
        node.args.defaults = self._visited(node.args.defaults)
        node.args.kw_defaults = self._visited(node.args.kw_defaults)
        self._body(node)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = self._visited(node.decorator_list)
        return self.visit_Lambda(node)

    def visit_UnaryOp(self, node: Any) -> Any:
        node.operand = self._visited(
            node.operand, "read_truth" if isinstance(node.op, ast.Not) else "read_operand"
        )
        return node

    def visit_BinOp(self, node: Any) -> Any:
        return self._read("operator_result", self.generic_visit(node), like=node)

    def visit_Compare(self, node: Any) -> Any:
        # `is` asks for the object alone, not for its value.
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            shown = None
        else:
            shown = "read_operand"
        node.left = self._visited(node.left, shown)
        node.comparators = self._visited(node.comparators, shown)
        return node

    # statements ---------------------------------------------------------------------------------------------

    def visit_Assign(self, node: Any) -> Any:
        is_unpacked = any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
        node.value = self._visited(node.value, "read_pairs" if is_unpacked else None)
        node.targets = self._visited(node.targets)
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        # `x: int` alone binds nothing.
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_AugAssign(self, node: Any) -> Any:
        node.value = self._read("read_operand", self.visit(node.value), like=node.value)
        target = node.target
        if isinstance(target, ast.Attribute):
            target.attr = mangle(target.attr, self.owner)
            target.value = self._read(
                "before_update_attribute", self.visit(target.value), ast.Constant(target.attr), like=target
            )
        elif isinstance(target, ast.Subscript):
            target.value = self._read("before_update_item", self.visit(target.value), like=target)
            target.slice = self._key(self.visit(target.slice))
        # A name from an outer scope, as `global` allows it: the assignment would not happen again.
        elif not any(target.id in scope for scope in self.scopes):
            raise OutsideAssignment(
                f"the variable {target.id!r} outside the function is assigned, which would "
                "happen while compiling only; return its value"
            )
        else:
            # `x += y` may change the object of a local name in place, so the observer sees both operands.
            node.value.func.attr = "augmented_operand"
            node.value.args = [ast.Name(target.id, ast.Load()), *node.value.args]
        return node

    def visit_For(self, node: Any) -> Any:
        return self._visit_unpacked(self.generic_visit(node))

    def visit_Import(self, node: Any) -> Any:
        return self._imported(node, [(alias.name, None) for alias in node.names], 0)

    def visit_ImportFrom(self, node: Any) -> Any:
        # Which names it binds is not in the text.
        if any(alias.name == "*" for alias in node.names):
            raise Unobservable("import *")
        return self._imported(node, [(node.module or "", alias.name) for alias in node.names], node.level)

    def _imported(self, node: Any, names: list[Any], level: int) -> list[ast.stmt]:
        pairs: Any = tuple(names)
        read = self._read("read_import", ast.Constant(pairs), ast.Constant(level), like=node)
        # The import runs as it stands, and the observer gets the names that it binds.
        return [node, ast.copy_location(ast.Expr(read), node)]

    def _refused(self, node: Any) -> NoReturn:
        raise Unobservable(f"`{type(node).__name__}` inside the function")

    def visit_ClassDef(self, node: Any) -> Any:
        for field in ("decorator_list", "bases", "keywords"):
            setattr(node, field, self._visited(getattr(node, field)))
        names = bound_names(node)
        # Private names inside belong to the new class.
        outer = self.owner
        self.owner = node.name
        body = node.body
        node.body = []
        for statement in body:
            if isinstance(statement, ast.FunctionDef):  # a method does not see the names of its class
                node.body += self._visited([statement])
            else:
                self.scopes.append(names)
                node.body += self._visited([statement])
                self.scopes.pop()
        self.owner = outer
        return node

    def visit_Match(self, node: Any) -> Any:
        node.subject = self._visited(node.subject, "read_content")
        for case in node.cases:
            # Such patterns call `isinstance` and look at attributes where no read can be put.
            if any(map(_reads_names, ast.walk(case.pattern))):
                raise Unobservable("a pattern with a class or a name in `match`")
            case.guard = self._visited(case.guard, "read_truth")
            case.body = self._visited(case.body)
        return node

    visit_AsyncFunctionDef = visit_AsyncFor = visit_AsyncWith = visit_Await = visit_TryStar = _refused


def _reads_names(pattern: ast.AST) -> bool:
    """Whether a part of a pattern of `match` looks at a class or the value of a name."""
    if isinstance(pattern, ast.MatchValue):
        # A number with a sign is a constant, too.
        return not isinstance(pattern.value, ast.Constant | ast.UnaryOp)
    return isinstance(pattern, ast.MatchClass)


def _is_ours(function: ast.expr) -> bool:
    """Whether it is an operator of converted code."""
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "ag__"
    )


def _as_value(key: Any) -> Any:
    """What stands between brackets as an expression of its own."""
    # Brackets have syntax of their own; as an argument a slice must be made.
    if isinstance(key, ast.Slice):
        parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
        return ast.Call(ast.Attribute(ast.Name(OBSERVER, ast.Load()), "slice", ast.Load()), parts, [])
    if isinstance(key, ast.Tuple):
        key.elts = [_as_value(part) for part in key.elts]
    return key
