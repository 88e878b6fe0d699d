"""A small GPT trained on processes, as JSON: a list of losses for each case. `python splits.py CASE...`.

A case is JSON: {"degrees": {"mp": 2}, "pipeline": settings of `gpt.train_pipeline`}, or without "pipeline"
for the plain GPT; "llama": a Llama.
"""

import json
import sys

from tests.distributed import gpt, llama


def run(case):
    if "llama" in case:
        return llama.train(case["degrees"])[0].tolist()
    if "pipeline" in case:
        return gpt.train_pipeline(case["degrees"], **case["pipeline"])[0].tolist()
    return gpt.train(case["degrees"])[0].tolist()


print(json.dumps([run(json.loads(case)) for case in sys.argv[1:]]), flush=True)
