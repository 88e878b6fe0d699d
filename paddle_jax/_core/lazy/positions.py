"""Positions: how the operands and results of the ops of a segment are numbered, and what follows from that.

The result of op i is `i`, or `i | k + 1 << OUTPUT` for each of several; leaf j is `-1 - j`. An op is a tuple
of its Sig and the positions of its operands.
"""

OUTPUT_SHIFT = 20  # bits of the op number within a position
OP_MASK = (1 << OUTPUT_SHIFT) - 1


def select_result(result, p):
    """The result at position p, from all that its op gave."""
    return result if p <= OP_MASK else result[(p >> OUTPUT_SHIFT) - 1]


def value_at(p, leaves, env):
    """What is at a position; `env` holds what ops gave, by op."""
    return leaves[-1 - p] if p < 0 else select_result(env[p & OP_MASK], p)


def aval_at(p, avals, ops):
    """The Aval at a position; `avals` are those of the leaves."""
    return avals[-1 - p] if p < 0 else select_result(ops[p & OP_MASK][0].out_avals, p)


def result_positions(ops, i):
    """The positions of all results of op i."""
    sig = ops[i][0]
    return (
        (i,) if sig.container is None else tuple(i | k + 1 << OUTPUT_SHIFT for k in range(len(sig.out_avals)))
    )


def needed_ops(ops, live):
    """The ops that live results depend on, in order, each with the ops whose results nobody
    reads afterwards."""
    kept = {p & OP_MASK for p in live}
    wanted, plan = set(kept), []
    for i in range(len(ops) - 1, -1, -1):
        if i not in wanted:
            continue
        before = {p & OP_MASK for p in ops[i][1:] if p >= 0} - wanted
        wanted |= before
        plan.append((i, before))
    plan.reverse()
    return plan
