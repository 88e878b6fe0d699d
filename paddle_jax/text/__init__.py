"""Text: data sets and the Viterbi decoder (`paddle.text`)."""

from paddle_jax.text.datasets import Imdb, Imikolov, UCIHousing
from paddle_jax.text.viterbi_decode import ViterbiDecoder, viterbi_decode

__all__ = ["Imdb", "Imikolov", "UCIHousing", "ViterbiDecoder", "viterbi_decode"]
