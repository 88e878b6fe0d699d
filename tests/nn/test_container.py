"""Sequential, LayerList, LayerDict, ParameterList, ParameterDict against the real Paddle line by line."""

import pytest

from tests.nn.scripts import same

SCRIPTS = {
    "Sequential": [
        "S = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Tanh())", "S[0]", "S[-1]", "S[3]", "S[-4]",
        "S[0:2]", "S[::2]", "type(S[0:1])", "S['0']", "S['q']", "S[paddle.to_tensor(0)]", "S[np.int64(1)]",
        "len(S)", "[type(q).__name__ for q in S]", "S[1] = nn.ELU()", "S['1'] = nn.ELU()", "S", "del S[9]",
        "del S['zz']", "del S[0:2]", "S.append(nn.GELU())", "S.insert(0, nn.Silu())", "S",
        "S.insert(-1, nn.Mish())", "S.insert(9, nn.Silu())", "S", "S.append(5)", "S.insert(0, 5)",
        "S.insert('a', nn.ReLU())", "S.extend([nn.ReLU6()])", "S.extend(nn.Sequential(nn.SELU()))", "S",
        "S + S", "nn.Sequential()", "nn.Sequential(('a', nn.ReLU()), ('b', nn.Tanh()))",
        "nn.Sequential([('a', nn.ReLU()), ('b', nn.Tanh())])",
        "nn.Sequential(['a', nn.ReLU()], ['b', nn.Tanh()])",
        "nn.Sequential(collections.OrderedDict(a=nn.ReLU()))", "nn.Sequential(5)",
        "nn.Sequential(nn.ReLU(), ('b', nn.Tanh()))", "nn.Sequential(*[])(3)",
        "A = nn.Sequential(('a', nn.ReLU()), ('b', nn.Tanh()))", "A['a']", "A[0]", "A.a", "A[0:1]",
        "A.append(nn.ELU())", "nn.Sequential(nn.Identity())(1, 2)", "nn.Sequential(lambda x: x)",
        "nn.Sequential(nn.Linear(2, 3), nn.ReLU()).state_dict().keys()",
    ],
    "LayerList": [
        "L = nn.LayerList([nn.Linear(2, 3), nn.ReLU()])", "L", "L[0]", "L[-1]", "L[5]", "L[-5]", "L[0:1]",
        "L[::-1]", "L['0']", "L.append(nn.Tanh())", "L.insert(1, nn.ELU())", "L.insert(-1, nn.GELU())",
        "L.insert(99, nn.GELU())", "L.insert(-99, nn.GELU())", "L", "L.extend([nn.SELU()])",
        "L.extend(nn.LayerList([nn.SELU()]))", "L.extend(5)", "L.extend(iter([nn.SELU()]))", "L.pop(0)",
        "L.pop(-1)", "L.pop(50)", "L.pop()", "L", "del L[0]", "del L[0:2]", "del L[-1]", "L", "len(L)",
        "[q for q in L]", "L[0] = nn.Mish()", "L[-1] = nn.Mish()", "L[7] = nn.Mish()", "L[0] = 5",
        "L.append(5)", "L + L", "nn.LayerList(5)", "nn.LayerList()", "nn.LayerList([5])", "L(1)",
        "nn.LayerList(nn.LayerList([nn.ReLU()]))", "nn.LayerList(modules=[nn.ReLU()])", "nn.ReLU() in L",
        "list(reversed(L))", "L.insert(index=0, module=nn.ReLU())", "L.append(sublayer=nn.ReLU())",
        "L.append(module=nn.ReLU())", "L.extend(modules=[nn.ReLU()])",
        "nn.LayerList([nn.Linear(2, 3), nn.Linear(2, 3)]).state_dict().keys()",
        "nn.ModuleList is nn.LayerList",
    ],
    "LayerDict": [
        "D = nn.LayerDict({'a': nn.ReLU(), 'b': nn.Tanh()})", "D", "D['a']", "D['z']", "D['c'] = nn.ELU()",
        "D['c'] = 5", "D.keys()", "D.values()", "D.items()", "list(D)", "'a' in D, 'z' in D", "D.pop('a')",
        "D.pop('zz')", "del D['b']", "del D['zz']", "D.update({'q': nn.ReLU()})",
        "D.update([('r', nn.ReLU()), ['s', nn.Mish()]])", "D.update(nn.LayerDict({'w': nn.ReLU()}))",
        "D.update(5)", "D.update([5])", "D.update([('a',)])", "D", "D.clear()", "D", "len(D)",
        "nn.LayerDict()", "nn.LayerDict([['a', nn.ReLU()]])", "nn.LayerDict(5)", "D.get('a')",
        "nn.LayerDict({'a': 5})", "nn.LayerDict(modules={'b': nn.ReLU(), 'a': nn.ReLU()})",
        "nn.LayerDict({'b': nn.Linear(1, 1)}).state_dict().keys()", "D(1)",
    ],
    "ParameterList": [
        "make = lambda n: paddle.create_parameter([n], 'float32', is_bias=True)",
        "P = nn.ParameterList([make(2), make(3)])", "P", "len(P)", "P[0]", "P[5]", "P.append(make(3)) is P",
        "P.append(5)", "P[0] = make(4)", "P[0].shape", "P[5] = make(4)", "len(P)", "P[0] = 5",
        "[p.shape for p in P]", "list(P.state_dict())", "nn.ParameterList()",
        "nn.ParameterList([paddle.ones([2])])", "nn.ParameterList(5)", "P.append(paddle.ones([2]))",
        "P['0'].shape", "len(nn.ParameterList((make(2),)))", "P.pop",
    ],
    "ParameterDict": [
        "make = lambda n: paddle.create_parameter([n], 'float32', is_bias=True)",
        "Q = nn.ParameterDict({'a': make(2)})", "Q", "len(Q)", "Q['a']", "Q['z']", "Q['b'] = make(3)",
        "Q['b'] = 5", "list(Q)", "Q.update({'c': make(3)})", "Q.update([('d', make(3))])", "Q.update(5)",
        "list(Q)", "'a' in Q", "list(Q.state_dict())", "nn.ParameterDict()",
        "nn.ParameterDict([['a', make(2)]])", "nn.ParameterDict(5)", "Q.update([5])", "Q.update([(1,)])",
        "Q[0]", "Q.items()",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def test_inserting_into_named_layers(paddle):
    nn = paddle.nn
    net = nn.Sequential(("a", nn.ReLU()), ("b", nn.Tanh()))
    net.insert(0, nn.CELU())
    assert [type(layer).__name__ for layer in net] == ["CELU", "ReLU", "Tanh"]


def test_slices_of_layer_lists(paddle):
    nn = paddle.nn
    layers = nn.LayerList([nn.ReLU(), nn.Tanh(), nn.ELU()])
    layers[0:2] = [nn.Mish()]
    assert [type(layer).__name__ for layer in layers] == ["Mish", "ELU"]
    assert list(layers._sub_layers) == ["0", "1"]
