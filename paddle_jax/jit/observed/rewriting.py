"""Rewriting of a function so that its reads pass through `reads__`, the observer of a run. What it
computes stays the same."""

import ast
import copy

READS = "reads__"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
           ast.GeneratorExp, ast.ClassDef)
_CONSTANT = (ast.Constant, ast.JoinedStr)
# expressions whose value may come from outside
_LOOKED_UP = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


class NotCovered(Exception):
    """A statement whose reads are not observed."""


class OutsideChanged(NotCovered):
    """A variable outside the function is changed in place."""


def rewritten(node, free, owner=None):
    """A copy of a function's node in which reads are observed.

    free: the names of its variables of enclosing functions. owner: the name of the class it stands in,
    for private names.
    """
    return _Rewriting(set(free), owner).top(copy.deepcopy(node))


def bound_names(node):
    """The names that are local to a function, lambda or comprehension."""
    bound, outside = set(), set()
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        args = node.args
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None:
                bound.add(arg.arg)
    work = (list(node.body) if isinstance(node, ast.FunctionDef | ast.ClassDef) else [node.body]
            if isinstance(node, ast.Lambda) else [g.target for g in node.generators])
    while work:
        item = work.pop()
        if isinstance(item, ast.Name):
            if not isinstance(item.ctx, ast.Load):
                bound.add(item.id)
        elif isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(item.name)
            work += item.decorator_list
            continue
        elif isinstance(item, ast.Global | ast.Nonlocal):
            outside.update(item.names)
        elif isinstance(item, ast.Import | ast.ImportFrom):
            bound.update([(alias.asname or alias.name).partition(".")[0] for alias in item.names])
        elif isinstance(item, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and item.name:
            bound.add(item.name)
        elif isinstance(item, ast.MatchMapping) and item.rest:
            bound.add(item.rest)
        if isinstance(item, _SCOPES):
            work += [n.target for n in ast.walk(item) if isinstance(n, ast.NamedExpr)]
            continue
        work += ast.iter_child_nodes(item)
    return bound - outside


class _Rewriting(ast.NodeTransformer):
    def __init__(self, free, owner):
        self.free, self.owner, self.scopes = free, owner, []

    def top(self, node):
        """The outermost function, without decorators, defaults and annotations."""
        if isinstance(node, ast.FunctionDef):
            node.decorator_list, node.returns = [], None
        args = node.args
        args.defaults = [ast.Constant(None) for _ in args.defaults]
        args.kw_defaults = [d and ast.Constant(None) for d in args.kw_defaults]
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None:
                arg.annotation = None
        self._body(node)
        return node

    def _body(self, node):
        self.scopes.append(bound_names(node))
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = [made for statement in node.body for made in self._listed(self.visit(statement))]
        self.scopes.pop()

    def _listed(self, made):
        return made if isinstance(made, list) else [] if made is None else [made]

    def _read(self, what, *args, like):
        call = ast.Call(ast.Attribute(ast.Name(READS, ast.Load()), what, ast.Load()), list(args), [])
        return ast.fix_missing_locations(ast.copy_location(call, like))

    def _operand(self, node):
        made = self.visit(node)
        return made if isinstance(node, _CONSTANT) else self._read("operand", made, like=node)

    def _test(self, node):
        made = self.visit(node)
        return (made if isinstance(node, ast.Compare | ast.Constant | ast.BoolOp)
                else self._read("test", made, like=node))

    # names, attributes, items -------------------------------------------------------------------------------

    def _mangled(self, name):
        """A name as the class that the function stands in makes it of a private one."""
        private = self.owner is not None and name.startswith("__") and not name.endswith("__")
        return f"_{self.owner.lstrip('_')}{name}" if private else name

    def visit_Name(self, node):
        if (not isinstance(node.ctx, ast.Load) or node.id in (READS, "ag__")
                or any(node.id in scope for scope in self.scopes)):
            return node
        node.id = self._mangled(node.id)
        kind = "cell" if node.id in self.free else "name"
        return self._read(kind, ast.Constant(node.id), node, like=node)

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in (READS, "ag__"):
            return node
        node.attr, value = self._mangled(node.attr), self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return self._read("attribute", value, ast.Constant(node.attr), like=node)
        node.value = self._read("set_attribute", value, ast.Constant(node.attr), like=node)
        return node

    def visit_Subscript(self, node):
        value, key = self.visit(node.value), self._key(self.visit(node.slice))
        if isinstance(node.ctx, ast.Load):
            return self._read("item", value, _as_value(key), like=node)
        node.value, node.slice = self._read("set_item", value, like=node), key
        return node

    def _key(self, key):
        """What stands between brackets, with the content of lists and arrays in it read."""
        if isinstance(key, ast.Tuple):
            key.elts = [self._key(part) for part in key.elts]
        elif isinstance(key, _LOOKED_UP):
            return self._read("operand", key, like=key)
        return key

    # expressions --------------------------------------------------------------------------------------------

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "super" or _is_ours(node.func):
            return self._inner_call(node)
        function = self.visit(node.func)
        args = ast.Tuple([self.visit(a) for a in node.args], ast.Load())
        named = ast.Dict([k.arg and ast.Constant(k.arg) for k in node.keywords],
                         [self._read("content", self.visit(k.value), like=k.value) if k.arg is None
                              else self.visit(k.value) for k in node.keywords])
        return self._read("call", function, args, named, like=node)

    def _inner_call(self, node):
        """A call of what converted code is made of: a condition or what is iterated over is
        its first argument."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else "super"
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        wanted = {"if_stmt": "test", "if_exp": "test", "not_": "test", "assert_stmt": "test",
                  "for_stmt": "iterate"}.get(name)
        if wanted is not None and node.args:
            node.args[0] = self._read(wanted, node.args[0], like=node)
        return node

    def visit_Starred(self, node):
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            node.value = self._read("iterate", node.value, like=node)
        return node

    def _new(self, node):
        made = self.generic_visit(node)
        if isinstance(node, ast.Dict):  # of `**other` the content is read
            made.values = [v if k else self._read("unpacked", v, like=v)
                           for k, v in zip(made.keys, made.values, strict=True)]
        return (self._read("new", made, like=node)
                if isinstance(getattr(node, "ctx", None), ast.Load) or not hasattr(node, "ctx") else made)

    visit_List = visit_Dict = visit_Set = _new

    def _comprehension(self, node):
        first = node.generators[0]
        first.iter = self._read("iterate", self.visit(first.iter), like=first.iter)
        self.scopes.append(bound_names(node))
        for generator in node.generators:
            if generator.is_async:
                raise NotCovered("an asynchronous comprehension")
            if generator is not first:
                generator.iter = self._read("iterate", self.visit(generator.iter), like=generator.iter)
            generator.ifs = [self._test(test) for test in generator.ifs]
            if not isinstance(generator.target, ast.Name):
                generator.iter = self._read("pairs", generator.iter, like=generator.iter)
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.scopes.pop()
        return node if isinstance(node, ast.GeneratorExp) else self._read("new", node, like=node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Lambda(self, node):
        self._defaults(node.args)
        self._body(node)
        return node

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        self._defaults(node.args)
        self._body(node)
        return node

    def _defaults(self, args):
        args.defaults = [self.visit(d) for d in args.defaults]
        args.kw_defaults = [d and self.visit(d) for d in args.kw_defaults]

    def visit_YieldFrom(self, node):
        node.value = self._read("iterate", self.visit(node.value), like=node.value)
        return node

    def visit_BoolOp(self, node):
        node.values = [self._test(v) for v in node.values]
        return node

    def visit_UnaryOp(self, node):
        node.operand = (self._test(node.operand) if isinstance(node.op, ast.Not)
                        else self._operand(node.operand))
        return node

    def visit_BinOp(self, node):
        node.left, node.right = self._operand(node.left), self._operand(node.right)
        return self._read("computed", node, like=node)

    def visit_Compare(self, node):
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return self.generic_visit(node)
        node.left, node.comparators = self._operand(node.left), [self._operand(c) for c in node.comparators]
        return node

    def visit_FormattedValue(self, node):
        node.value = self._operand(node.value)
        return node

    # statements ---------------------------------------------------------------------------------------------

    def visit_Assign(self, node):
        node.value = self.visit(node.value)
        if any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
            node.value = self._read("pairs", node.value, like=node.value)
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_AugAssign(self, node):
        node.value = self._read("operand", self.visit(node.value), like=node.value)
        target = node.target
        if isinstance(target, ast.Attribute):
            target.attr = self._mangled(target.attr)
            target.value = self._read("change_attribute", self.visit(target.value), ast.Constant(target.attr),
                                      like=target)
        elif isinstance(target, ast.Subscript):
            target.value, target.slice = (self._read("change_item", self.visit(target.value), like=target),
                                          self._key(self.visit(target.slice)))
        elif not any(target.id in scope for scope in self.scopes):
            raise OutsideChanged(f"the variable {target.id!r} outside the function is assigned, which would "
                                 "happen while compiling only; return its value")
        else:
            node.value.func.attr, node.value.args = ("augmented",
                                                     [ast.Name(target.id, ast.Load()), *node.value.args])
        return node

    def visit_For(self, node):
        node.iter = self._read("iterate", self.visit(node.iter), like=node.iter)
        if not isinstance(node.target, ast.Name):
            node.iter = self._read("pairs", node.iter, like=node.iter)
        return self._statements(node, "target", "body", "orelse")

    def visit_If(self, node):
        node.test = self._test(node.test)
        return self._statements(node, "body", "orelse")

    def visit_While(self, node):
        return self.visit_If(node)

    def visit_IfExp(self, node):
        node.test, node.body, node.orelse = (self._test(node.test), self.visit(node.body),
                                             self.visit(node.orelse))
        return node

    def visit_Assert(self, node):
        node.test, node.msg = self._test(node.test), node.msg and self.visit(node.msg)
        return node

    def _statements(self, node, *fields):
        for field in fields:
            old = getattr(node, field)
            setattr(node, field, ([m for s in old for m in self._listed(self.visit(s))]
                                  if isinstance(old, list) else self.visit(old)))
        return node

    def visit_Import(self, node):
        names = ast.Tuple([_pair(alias.name, None) for alias in node.names], ast.Load())
        return [node,
                ast.copy_location(ast.Expr(self._read("imported", names, ast.Constant(0), like=node)), node)]

    def visit_ImportFrom(self, node):
        if any(alias.name == "*" for alias in node.names):
            raise NotCovered("import *")
        names = ast.Tuple([_pair(node.module or "", alias.name) for alias in node.names], ast.Load())
        return [node, ast.copy_location(
            ast.Expr(self._read("imported", names, ast.Constant(node.level), like=node)), node)]

    def _refused(self, node):
        raise NotCovered(f"`{type(node).__name__}` inside the function")

    def visit_ClassDef(self, node):
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.bases, outer = [self.visit(b) for b in node.bases], self.owner
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        names, self.owner = bound_names(node), node.name
        for i, statement in enumerate(node.body):
            # the names of a class are not seen in its methods
            inside = not isinstance(statement, ast.FunctionDef)
            self.scopes += [names] if inside else []
            node.body[i] = self.visit(statement)
            del self.scopes[len(self.scopes) - inside :]
        node.body = [made for statement in node.body for made in self._listed(statement)]
        self.owner = outer
        return node

    def visit_Match(self, node):
        node.subject = self._read("content", self.visit(node.subject), like=node.subject)
        for case in node.cases:
            if any(isinstance(n, ast.MatchClass) or isinstance(n, ast.MatchValue)
                                                     and not isinstance(n.value, ast.Constant | ast.UnaryOp)
                   for n in ast.walk(case.pattern)):
                raise NotCovered("a pattern with a class or a name in `match`")
            case.guard = case.guard and self._test(case.guard)
            self._statements(case, "body")
        return node

    visit_AsyncFunctionDef = visit_AsyncFor = visit_AsyncWith = visit_Await = visit_TryStar = _refused


def _is_ours(function):
    """Whether it is an operator of converted code."""
    return (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
            and function.value.id == "ag__")


def _pair(module, name):
    return ast.Tuple([ast.Constant(module), ast.Constant(name)], ast.Load())


def _as_value(key):
    """What stands between brackets as an expression of its own."""
    if isinstance(key, ast.Slice):
        parts = [part or ast.Constant(None) for part in (key.lower, key.upper, key.step)]
        return ast.Call(ast.Attribute(ast.Name(READS, ast.Load()), "slice", ast.Load()), parts, [])
    if isinstance(key, ast.Tuple):
        key.elts = [_as_value(part) for part in key.elts]
    return key
