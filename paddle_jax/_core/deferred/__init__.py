"""Deferred eager execution: ops are recorded into segments, run op by op when first seen and compiled whole
when they recur."""
