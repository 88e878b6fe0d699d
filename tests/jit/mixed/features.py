"""Kinds of Python's own state."""

from tests.jit.mixed.feature import feature

feature(
    """
def helper$(v, k=1.25, *, m=0.5):
    return v * k + m
def outer$(v):
    def inner(w, k=helper$.__kwdefaults__['m']):
        return helper$(w) * k
    return inner(v)
""",
    [
        "x = helper$(x)",
        "x = outer$(x)",
        "x = helper$(x, m=helper$.__defaults__[0])",
        "x = (lambda v, k=helper$: k(v))(x)",
    ],
    [
        "helper$.__defaults__ = (RND,)",
        "helper$.__kwdefaults__ = {'m': RND}",
        "helper$.__kwdefaults__['m'] = RND",
        "helper$.__code__ = (lambda v, k=1, *, m=1: v * m - k).__code__",
        "helper$.k = RND",
        "globals()['helper$'] = lambda v, k=RND, *, m=RND: v * k\nhelper$.__kwdefaults__ = dict(m=RND)",
    ],
)

feature(
    """
class Mixin$:
    factor = 0.75
    def extra(self): return self.factor
class Base$:
    factor = 1.5
    table = {'a': 0.5}
    def scale(self, v): return v * self.factor
    @classmethod
    def shift(cls, v): return v + cls.factor
    @staticmethod
    def half(v): return v * 0.5
class Child$(Base$):
    def scale(self, v): return super().scale(v) + self.table['a']
thing$ = Child$()
""",
    [
        "x = thing$.scale(x)",
        "x = thing$.shift(x)",
        "x = Child$.half(x)",
        "x = Child$().scale(x)",
        "x = x * getattr(thing$, 'factor', 1.0)",
        "x = x * (1.25 if isinstance(thing$, Child$) else 0.5)",
        "x = x * (1.25 if hasattr(thing$, 'extra') else 0.5)",
        "x = Base$.scale(thing$, x)",
        "x = x * len(type(thing$).__mro__) / 3",
        "x = x * {'a': 1.0, **vars(thing$)}.get('factor', 1.1)",
        "class Local(Base$):\n    factor = Base$.factor * 1.1\nx = Local().scale(x)",
        "x = x * thing$.factor if '_k' not in vars(thing$) else x",
    ],
    [
        "Base$.factor = RND",
        "Child$.factor = RND",
        "thing$.factor = RND",
        "Base$.table['a'] = RND",
        "Child$.table = {'a': RND}",
        "Base$.scale = lambda self, v: v * RND",
        "Child$.half = staticmethod(lambda v: v * RND)",
        "thing$.scale = lambda v: v * RND",
        "thing$.__class__ = Base$",
        "Child$.__bases__ = (Mixin$, Base$)",
        "Base$.shift = classmethod(lambda cls, v: v * cls.factor)",
        "thing$._k = 1",
        "thing$.__dict__.clear()",
        "vars(thing$).update(factor=RND)",
        "thing$ = Base$()",
        "Child$.scale = Base$.scale",
        "del Base$.half\nBase$.half = staticmethod(abs)",
    ],
)

feature(
    """
class Prop$:
    def __init__(self): self._v = 1.5
    @property
    def v(self): return self._v
    @v.setter
    def v(self, new): self._v = new * 2
prop$ = Prop$()
""",
    [
        "x = x * prop$.v",
        "prop$.v = 0.75\nx = x * prop$.v",
        "prop$.v += 0.25\nx = x * prop$._v",
        "mine = Prop$()\nmine.v = 0.5\nx = x * mine.v",
        "prop$.note = float(x.shape[0])\nx = x * prop$.note",
    ],
    [
        "prop$.v = RND",
        "prop$._v = RND",
        "Prop$.v = property(lambda self: RND)",
        "Prop$.v = RND",
        "prop$.note = RND",
    ],
    ["prop$.__dict__"],
)

feature(
    """
def scaled$(v, k, m=1.0): return v * k + m
part$ = functools.partial(scaled$, k=0.5)
chain$ = functools.partial(functools.partial(scaled$, m=0.25), k=2.0)
""",
    ["x = part$(x)", "x = part$(x, m=0.5)", "x = chain$(x)", "x = list(map(part$, [x, x]))[1]"],
    [
        "part$ = functools.partial(scaled$, k=RND)",
        "part$.keywords['k'] = RND",
        "scaled$.__defaults__ = (RND,)",
        "scaled$ = lambda v, k, m=1.0: v - k",
    ],
)

feature(
    """
@dataclasses.dataclass(frozen=True)
class Conf$:
    rate: float = 1.5
    sub: list = dataclasses.field(default_factory=lambda: [0.5, 0.75])
@dataclasses.dataclass(slots=True)
class Slot$:
    rate: float = 1.5
conf$, slot$ = Conf$(), Slot$()
""",
    [
        "x = x * conf$.rate + conf$.sub[0]",
        "x = x * dataclasses.replace(conf$, rate=conf$.rate + 0.5).rate",
        "x = x * sum(conf$.sub)",
        "x = x * slot$.rate",
        "x = x * Conf$(rate=slot$.rate).rate",
        "x = x * (1.5 if conf$ == Conf$(1.5) else 0.5)",
        "x = x * dataclasses.asdict(conf$)['rate']",
        "slot$.rate = 0.75\nx = x * slot$.rate",
    ],
    [
        "conf$ = dataclasses.replace(conf$, rate=RND)",
        "object.__setattr__(conf$, 'rate', RND)",
        "conf$.sub[0] = RND",
        "conf$.sub.append(RND)",
        "slot$.rate = RND",
        "slot$ = Slot$(RND)",
    ],
    ["conf$.rate", "slot$.rate"],
)

feature(
    """
stride$, count$ = 0.5, 2
def gen$(n):
    for i in range(n):
        yield i * stride$
def deep$(n):
    yield from gen$(n)
    yield stride$ if count$ > 2 else 1.0
""",
    [
        "for g in gen$(2):\n    x = x + g",
        "for g in deep$(count$):\n    x = x * (1 + g)",
        "x = x + sum(gen$(count$))",
        "x = x * max(deep$(2))",
        "a, *rest = gen$(3)\nx = x + rest[-1]",
        "x = x + sum(g for g in gen$(count$) if g < stride$ * 1.5)",
        "it = iter(gen$(3))\nnext(it)\nx = x + next(it)",
        "x = x + [*deep$(count$)][-1]",
    ],
    ["stride$ = RND", "count$ = 3", "count$ = 1", "gen$ = lambda n: iter([RND] * n)"],
)

feature(
    """
nums$, more$ = [0.5, 0.75, 1.25], [1.0, 0.5]
table$ = {'a': 0.5, 'b': [0.75, {'c': 1.25}]}
tags$ = {'a', 'b'}
""",
    [
        "x = x * sum([w for w in nums$ if w > 0.6])",
        "x = x + sum([a * b for a in nums$ for b in more$])",
        "x = x * {k: v for k, v in table$.items()}['a']",
        "x = x * len({round(w, 1) for w in nums$})",
        "x = x * (1.25 if any(w > 1 for w in nums$) else 0.75)",
        "for w in nums$[1:]:\n    x = x * w",
        "x = x * table$['b'][1]['c']",
        "x = x * (1.25 if 'a' in tags$ else 0.75)",
        "x = x * nums$[-1]",
        "x = x * min(nums$) + max(more$)",
        "x = x * sorted(nums$)[0]",
        "for a, b in zip(nums$, more$):\n    x = x * a + b",
        "for i, w in enumerate(nums$):\n    x = x + i * w",
        "x = x * functools.reduce(lambda p, q: p * q, nums$)",
        "x = x * (1.5 if nums$ == [0.5, 0.75, 1.25] else 0.5)",
        "x = x * [*nums$, 2.0][0]",
        "x = x * dict(table$, a=more$[0])['a']",
        "first, *_ = nums$\nx = x * first",
        "x = x * (table$.get('zz') or 1.5)",
        "nums$.append(0.5)\nx = x * len(nums$)",
        "table$['n'] = table$.get('n', 0) + 1\nx = x * table$['n']",
        "x = x * sum(map(abs, nums$))",
        "x = x * nums$.index(nums$[-1])",
        "x = x * nums$.count(0.5)",
        "x = x + [n * 2 for n in nums$][0]",
        "x = x * float(','.join(map(str, nums$)).split(',')[0])",
        "x = x * (nums$ + more$)[0]",
        "x = x * len(nums$ * 2)",
        "x = x * list(reversed(nums$))[0]",
        "while nums$ and nums$[-1] > 5:\n    nums$.pop()\nx = x * len(nums$)",
        "if not table$.get('flag'):\n    x = x * 1.5",
        "del table$['a']\nx = x * 2\ntable$['a'] = 0.5",
        "x = x * sum(table$['b'][:1])",
        "x = x * np.mean(nums$)",
        "x = x * float(np.array(nums$)[0])",
        "x = x + paddle.to_tensor(nums$).sum().astype(x.dtype)",
        "x = x * math.prod(nums$)",
        "x = x * [n for n in nums$ if (m := n) > 0.5][0]",
        "x = x + sum(v for v in table$.values() if isinstance(v, float))",
    ],
    [
        "nums$.append(RND)",
        "nums$[0] = RND",
        "nums$ = [RND, RND]",
        "nums$.reverse()",
        "more$[:] = [RND]",
        "table$['a'] = RND",
        "table$['b'][1]['c'] = RND",
        "table$['b'] = [RND, {'c': RND}]",
        "table$['z'] = RND",
        "tags$.discard('a')",
        "tags$ = frozenset('a')",
        "nums$.pop()",
        "table$['flag'] = True",
        "nums$ = tuple(nums$)",
        "table$['zz'] = RND",
        "nums$.insert(0, RND)",
        "nums$.sort(reverse=True)",
    ],
    ["nums$", "table$"],
)

feature(
    """
mode$, shape$, opts$ = 'a', (2, 3), {'k': 1.5}
""",
    [
        """match mode$:
    case 'a': x = x * 1.5
    case 'b' | 'c': x = x * 0.5
    case [p, q]: x = x * p
    case {'k': v}: x = x * v
    case None: x = x - 1
    case _: x = x + 1""",
        """match shape$:
    case (a, b) if a < b: x = x * a
    case (a, *rest): x = x * len(rest)
    case _: x = x * 3""",
        """match opts$:
    case {'k': v, **rest}: x = x * v + len(rest)
    case _: x = x * 3""",
        """match mode$:
    case str(): x = x * 1.5
    case int() | float(): x = x * 0.5
    case _: x = x + 1""",
    ],
    [
        "mode$ = 'b'",
        "mode$ = [RND, 1]",
        "mode$ = {'k': RND}",
        "mode$ = None",
        "mode$ = 3",
        "shape$ = (3, 2)",
        "shape$ = (1,)",
        "opts$['k'] = RND",
        "opts$['j'] = 1",
        "opts$.clear()",
    ],
)

feature(
    """
limit$, key$, hold$ = 1.0, 'a', {'a': 1.5}
class Oops$(Exception): code = 0.5
""",
    [
        "x = x * (s if (s := limit$) > 0.8 else 2.0)",
        "try:\n    x = x * hold$[key$]\nexcept KeyError:\n    x = x * 0.5\nfinally:\n    x = x + limit$",
        "try:\n    if limit$ > 1.1:\n        raise Oops$('no')\n    x = x * 2\nexcept Oops$ as error:\n"
        "    x = x * error.code",
        "try:\n    x = x + limit$\nfinally:\n    hold$['seen'] = 1",
        "if (n := len(hold$)) > 1:\n    x = x * n",
        "x = x * (limit$ and hold$.get(key$, 0.25))",
        "assert limit$ < 1.4, 'limit'\nx = x * 2",
        "if limit$ > 1.3:\n    raise Oops$('stop')",
        "while True:\n    x = x * 1.1\n    if limit$ > 0:\n        break",
        "for i in range(3):\n    if i * limit$ > 1.2:\n        continue\n    x = x * 1.5\nelse:\n"
        "    x = x + 0.5",
        "try:\n    x = x * int(key$)\nexcept (ValueError, TypeError):\n    x = x * 0.25\nelse:\n"
        "    x = x + 1",
        "with contextlib.suppress(KeyError):\n    x = x * hold$[key$ + key$]\n    x = x + 5",
        "x = x * float(f'{limit$:.2f}')",
        "x = x * (1.5 if 0.8 < limit$ < 1.2 else 0.5)",
    ],
    [
        "limit$ = RND",
        "limit$ = 1.35",
        "key$ = 'zz'",
        "hold$['a'] = RND",
        "key$ = '2'",
        "hold$['b'] = 1",
        "Oops$.code = RND",
        "limit$ = 0",
        "hold$['aa'] = RND",
        "limit$ = 1",
        "limit$ = np.float32(RND)",
        "limit$ = True",
    ],
    ["hold$"],
)

feature(
    """
level$ = [1.0]
class Manager$:
    depth = 0.5
    def __enter__(self):
        level$.append(RND)
        return self
    def __exit__(self, *why):
        level$.pop()
@contextlib.contextmanager
def scope$(value):
    level$.append(value)
    try:
        yield value * 2
    finally:
        level$.pop()
amp$ = False
""",
    [
        "with Manager$() as m:\n    x = x * level$[-1] * m.depth",
        "with scope$(level$[0]) as v:\n    x = x * v + level$[-1]",
        "with paddle.no_grad():\n    x = x * level$[0]",
        "with contextlib.nullcontext(level$[0]) as v:\n    x = x * v",
        "with Manager$(), scope$(0.5):\n    x = x * len(level$)",
    ],
    [
        "Manager$.depth = RND",
        "level$[0] = RND",
        "level$ = [RND]",
        "Manager$.__exit__ = lambda self, *why: None",
    ],
    ["level$"],
)

feature(
    """
sys.modules['mixed_conf$'] = types.ModuleType('mixed_conf$')
sys.modules['mixed_conf$'].value = 1.5
sys.modules['mixed_conf$'].sub = types.SimpleNamespace(v=0.5)
""",
    [
        "import mixed_conf$\nx = x * mixed_conf$.value",
        "from mixed_conf$ import value as got\nx = x * got",
        "x = x * sys.modules['mixed_conf$'].value",
        "import mixed_conf$ as c\nx = x * c.sub.v",
        "x = x * importlib.import_module('mixed_conf$').value",
        "from mixed_conf$ import sub\nx = x * sub.v",
    ],
    [
        "sys.modules['mixed_conf$'].value = RND",
        "sys.modules['mixed_conf$'] = types.SimpleNamespace(value=RND, sub=types.SimpleNamespace(v=RND))",
        "sys.modules['mixed_conf$'].sub.v = RND",
        "new = types.ModuleType('mixed_conf$')\nnew.value, new.sub = RND, types.SimpleNamespace(v=RND)\n"
        "sys.modules['mixed_conf$'] = new",
    ],
)

feature(
    """
os.environ['MIXED$'] = '1.5'
""",
    [
        "x = x * float(os.environ.get('MIXED$', '0.5'))",
        "x = x * float(os.getenv('MIXED$') or 2)",
        "if 'MIXED$' in os.environ:\n    x = x * float(os.environ['MIXED$'])",
        "x = x * len(os.environ['MIXED$'])",
        "x = x * float(dict(os.environ).get('MIXED$', 3))",
    ],
    ["os.environ['MIXED$'] = str(RND)", "os.environ.pop('MIXED$', None)", "os.environ['MIXED$'] = '2'"],
)

feature(
    """
class Vec$:
    def __init__(self, v): self.v, self.calls = v, 0
    def __mul__(self, other): return other * self.v
    __rmul__ = __mul__
    def __call__(self, other): return other * self.v
    def __getitem__(self, key): return self.v if key else 1.0
    def __len__(self): return int(self.v * 2)
    def __iter__(self): return iter([self.v, 1.0])
    def __contains__(self, key): return key < self.v
    def __bool__(self): return self.v > 1.0
    def __lt__(self, other): return self.v < other
    def __eq__(self, other): return self.v == other
    def __hash__(self): return 1
    def __float__(self): return float(self.v)
    def __str__(self): return str(self.v)
    def __getattr__(self, name):
        if name.startswith('dyn'): return self.v
        raise AttributeError(name)
    def bump(self, v):
        self.calls += 1
        return v * self.calls
vec$ = Vec$(1.25)
""",
    [
        "x = vec$(x)",
        "x = x * vec$[1]",
        "x = x * len(vec$)",
        "x = x * sum(vec$)",
        "x = x * (1.5 if vec$ else 0.5)",
        "x = x * (1.5 if 1.0 in vec$ else 0.5)",
        "x = x * (1.5 if vec$ < 1.0 else 0.5)",
        "x = x * float(vec$)",
        "x = x * float(str(vec$))",
        "x = x * vec$.dyn1",
        "x = vec$.bump(x)",
        "x = x * (vec$ * 2.0)",
        "x = x * (1.5 if vec$ == 1.25 else 0.5)",
        "a, b = vec$\nx = x * a",
        "x = x * float(f'{vec$}')",
        "x = x * {vec$: 2.0}.get(vec$, 1.0)",
        "x = x * max(vec$)",
        "x = x * getattr(vec$, 'nope', 0.5)",
        "x = x * vec$.__dict__['v']",
        "x = x * operator.attrgetter('v')(vec$)",
        "x = x * operator.itemgetter(1)(vec$)",
    ],
    [
        "vec$.v = RND",
        "vec$ = Vec$(RND)",
        "Vec$.__call__ = lambda self, other: other - self.v",
        "Vec$.__getattr__ = lambda self, name: RND",
        "vec$.dyn1 = RND",
        "Vec$.__len__ = lambda self: 3",
        "vec$.nope = RND",
        "Vec$.__bool__ = lambda self: False",
    ],
    ["vec$.__dict__"],
)

feature(
    """
Pair$ = collections.namedtuple('Pair$', 'a b')
class Color$(enum.Enum):
    RED = 1
    BLUE = 2
pair$, color$ = Pair$(0.5, 1.5), Color$.RED
dd$, dq$, chain_map$ = collections.defaultdict(lambda: 0.5, a=1.5), collections.deque([0.5, 1.5], maxlen=3), None
ctr$ = collections.Counter('aab')
chain_map$ = collections.ChainMap({}, {'a': 1.5})
arr$ = np.array([0.5, 1.5], 'float32')
var$ = contextvars.ContextVar('var$', default=1.5)
local$ = threading.local()
local$.v = 1.5
ns$ = types.SimpleNamespace(a=1.5, deep=types.SimpleNamespace(b=[0.5]))
""",  # noqa: E501
    [
        "x = x * pair$.a + pair$[1]",
        "x = x * (1.5 if color$ is Color$.RED else 0.5)",
        "x = x * color$.value",
        "x = x * dd$['a']",
        "x = x * dd$['q']",
        "x = x * dq$[0] + sum(dq$)",
        "x = x * ctr$['a'] + ctr$.most_common(1)[0][1]",
        "x = x * chain_map$['a']",
        "x = x * arr$[0]",
        "x = x * paddle.to_tensor(arr$)",
        "x = x * float(arr$.sum())",
        "x = x * var$.get()",
        "x = x * local$.v",
        "x = x * ns$.a + ns$.deep.b[0]",
        "x = x * pair$._replace(a=2.0).a",
        "dq$.append(0.5)\nx = x * len(dq$)",
        "x = x + paddle.to_tensor(arr$ * 2)[0]",
        "x = x * {Color$.RED: 1.5, Color$.BLUE: 0.5}[color$]",
        "x = x * Color$(2).value",
        "x = x * (1.5 if color$ in (Color$.RED,) else 0.5)",
        "a, b = pair$\nx = x * b",
        "x = x * len(Color$)",
        "arr$[0] += 1\nx = x * arr$[0]",
        "ns$.a += 0.5\nx = x * ns$.a",
    ],
    [
        "pair$ = Pair$(RND, RND)",
        "color$ = Color$.BLUE",
        "dd$['a'] = RND",
        "dd$.default_factory = lambda: RND",
        "dq$.append(RND)",
        "dq$.rotate(1)",
        "ctr$['a'] += 3",
        "chain_map$['a'] = RND",
        "chain_map$.maps[1]['a'] = RND",
        "arr$[0] = RND",
        "arr$ = np.array([RND, RND], 'float32')",
        "arr$ *= 2",
        "var$.set(RND)",
        "local$.v = RND",
        "ns$.a = RND",
        "ns$.deep.b[0] = RND",
        "ns$.deep = types.SimpleNamespace(b=[RND])",
        "Color$.RED._value_ = 3",
    ],
    ["list(dq$)", "arr$", "dict(dd$)", "ns$.__dict__"],
)

feature(
    """
calls$ = [0]
@functools.lru_cache(maxsize=None)
def cached$(k):
    calls$[0] += 1
    return k * base$
base$ = 1.5
class Lazy$:
    @functools.cached_property
    def v(self): return base$ * 2
lazy$ = Lazy$()
@functools.singledispatch
def single$(v): return 1.5
@single$.register
def _(v: int): return base$
def wrap$(f):
    @functools.wraps(f)
    def inner(*args, **named): return f(*args, **named) * base$
    return inner
@wrap$
def wrapped$(v): return v + 1
def recur$(v, n): return v if n <= 0 else recur$(v * base$, n - 1)
total$ = 0
def counting$(v):
    global total$
    total$ += 1
    return v * total$
def make$():
    n = 0
    def bump(v):
        nonlocal n
        n += 1
        return v * n
    return bump
bump$ = make$()
""",
    [
        "x = x * cached$(2.0)",
        "x = x * lazy$.v",
        "x = x * Lazy$().v",
        "x = x * single$(1)",
        "x = wrapped$(x)",
        "x = recur$(x, 2)",
        "x = counting$(x)",
        "x = bump$(x)",
        "total$ = 3 * base$\nx = x * total$",
        "x = x * eval('base$')",
        "x = x * globals()['base$']",
        "x = x * (lambda: base$)()",
        "x = x * random.uniform(0.5, 1.5)",
        "x = x * np.random.rand()",
        "x = x * (hash('k') == hash('k'))",
        "x = x * copy.deepcopy([base$])[0]",
        "x = x * next(itertools.cycle([base$]))",
        "x = x * list(itertools.chain([base$], [1.0]))[0]",
        "x = x * list(itertools.accumulate([base$, 1.0]))[-1]",
        "x = x * json.loads(json.dumps({'a': base$}))['a']",
    ],
    [
        "base$ = RND",
        "cached$.cache_clear()",
        "lazy$.__dict__.pop('v', None)",
        "lazy$.v = RND",
        "single$.register(int, lambda v: RND)",
        "wrapped$ = wrap$(lambda v: v - 1)",
        "total$ = 5",
        "recur$ = lambda v, n: v + n",
        "wrapped$.__wrapped__ = None",
    ],
    ["total$", "calls$"],
)
