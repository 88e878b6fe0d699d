"""Text: the Viterbi decoder (`paddle.text`)."""

from paddle_jax.text.viterbi_decode import ViterbiDecoder, viterbi_decode

__all__ = ["ViterbiDecoder", "viterbi_decode"]
