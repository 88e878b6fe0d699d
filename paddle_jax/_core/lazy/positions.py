"""Positions: how the operands and results of the ops of a segment are numbered, and what follows from that.

The result of op i is `i`, or `i | k + 1 << OUTPUT` for each of several; leaf j is `-1 - j`. An op is a tuple
of its Sig and the positions of its operands.
"""

OUTPUT = 20  # bits of the op number within a position
MASK = (1 << OUTPUT) - 1


def picked(result, p):
    """The result at position p, from all that its op gave."""
    return result if p <= MASK else result[(p >> OUTPUT) - 1]


def value_at(p, leaves, env):
    """What is at a position; `env` holds what ops gave, by op."""
    return leaves[-1 - p] if p < 0 else picked(env[p & MASK], p)


def aval_at(p, avals, ops):
    """The Aval at a position; `avals` are those of the leaves."""
    return avals[-1 - p] if p < 0 else picked(ops[p & MASK][0].out, p)


def outputs(ops, i):
    """The positions of all results of op i."""
    sig = ops[i][0]
    return (i,) if sig.many is None else tuple(i | k + 1 << OUTPUT for k in range(len(sig.out)))


def needed(ops, live):
    """The ops that live results depend on, in order, each with the ops whose results nobody
    reads afterwards."""
    kept = {p & MASK for p in live}
    wanted, plan = set(kept), []
    for i in range(len(ops) - 1, -1, -1):
        if i not in wanted:
            continue
        before = {p & MASK for p in ops[i][1:] if p >= 0} - wanted
        wanted |= before
        plan.append((i, before))
    plan.reverse()
    return plan
