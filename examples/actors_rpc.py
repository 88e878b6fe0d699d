"""Actors that play a game, and a learner that asks them for episodes: programs that talk by rpc.

    python -m paddle_jax -m paddle.distributed.launch --run_mode rpc --nproc_per_node 3 examples/actors_rpc.py

It needs gRPC: pip install 'paddle_jax[rpc]'. The game is a bandit with four arms. Each actor draws arms by
the learner's preferences, and returns what they paid; the learner makes the good ones likelier.
"""

import os

import numpy as np
import paddle
import paddle.distributed.rpc as rpc

PAYS = np.array([0.1, 0.3, 0.8, 0.5])  # the chance that each arm pays 1
EPISODES = 60
DRAWS = 32


def play(preferences, seed):
    """Runs in an actor: arms [DRAWS] that were drawn, and what they paid."""
    random = np.random.default_rng(seed)
    chances = np.exp(preferences - preferences.max())
    arms = random.choice(len(PAYS), size=DRAWS, p=chances / chances.sum())
    return arms, (random.random(DRAWS) < PAYS[arms]).astype("float32")


def learn(actors):
    """Runs in the learner: gradient steps on what the actors have seen."""
    preferences = paddle.create_parameter([len(PAYS)], "float32")
    preferences.set_value(np.zeros(len(PAYS), "float32"))
    optimizer = paddle.optimizer.Adam(0.1, parameters=[preferences])
    average = 0.5
    for episode in range(EPISODES):
        asked = [
            rpc.rpc_async(actor, play, args=(preferences.numpy(), 1000 * episode + number))
            for number, actor in enumerate(actors)
        ]
        results = [future.wait() for future in asked]
        arms = paddle.to_tensor(np.concatenate([arms for arms, _ in results]))
        paid = np.concatenate([paid for _, paid in results])
        chosen = paddle.nn.functional.log_softmax(preferences).gather(arms)
        loss = -(chosen * paddle.to_tensor(paid - average)).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        average = 0.9 * average + 0.1 * float(paid.mean())
    return paddle.nn.functional.softmax(preferences).numpy(), average


def main():
    rank = int(os.environ.get("PADDLE_TRAINER_ID", "0"))
    size = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
    if size == 1:  # without a launcher the learner asks itself
        rpc.init_rpc("learner", rank=0, world_size=1, master_endpoint="127.0.0.1:29600")
        actors = ["learner"]
    else:
        rpc.init_rpc("learner" if rank == 0 else f"actor{rank}")
        actors = [f"actor{number}" for number in range(1, size)]
    if rank == 0:
        chances, average = learn(actors)
        print("chances", [round(float(chance), 2) for chance in chances], "pays", round(average, 2))
    rpc.shutdown()


if __name__ == "__main__":
    main()
