"""What `strategy.sparse_table_configs` says of a table: its storage, rule, first values and statistics."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from paddle_jax.distributed.ps.settings import CALLER
from paddle_jax.distributed.ps.table_spec import TableSpec
from paddle_jax.distributed.ps.tables import accessor_settings

_STATISTICS = "accessor.ctr_accessor_param."
_FIRST_COLUMN = "accessor.embed_sgd_param."
_OTHER_COLUMNS = "accessor.embedx_sgd_param."
_STORAGES = ("MemorySparseTable", "SSDSparseTable")
_UNUSED = (
    "table_name",
    "table_id",
    "shard_num",
    "type",
    "compress_in_save",
    "enable_sparse_table_cache",
    "sparse_table_cache_rate",
    "sparse_table_cache_file_num",
    "enable_revert",
    "shard_merge_rate",
    "accessor.accessor_class",
    "accessor.fea_dim",
    "accessor.embedx_dim",
    "accessor.embedx_threshold",
    f"{_STATISTICS}delta_threshold",
    f"{_STATISTICS}delta_keep_days",
    f"{_STATISTICS}ssd_unseenday_threshold",
    f"{_STATISTICS}show_scale",
    f"{_STATISTICS}zero_init",
)


class _RuleName(NamedTuple):
    """A rule by its name in Paddle.

    Attributes:
        rule: str, its name in `update_rules.RULES`.
        group: str, begins the names of its settings.
        settings: {name in Paddle: (name of the rule's setting, Paddle's value)}.
        rate: float, Paddle's learning rate.
    """

    rule: str
    group: str
    settings: dict[str, tuple[str, float]]
    rate: float


_SUM = {"initial_g2sum": ("initial", 3.0)}
_MOMENTS = {
    "beta1_decay_rate": ("beta1", 0.9),
    "beta2_decay_rate": ("beta2", 0.999),
    "ada_epsilon": ("epsilon", 1e-8),
}
_RULES = {
    "SparseNaiveSGDRule": _RuleName("sgd", "naive.", {}, 0.05),
    "SparseAdaGradSGDRule": _RuleName("row_adagrad", "adagrad.", _SUM, 0.05),
    "StdAdaGradSGDRule": _RuleName("std_adagrad", "adagrad.", _SUM, 0.05),
    "SparseAdamSGDRule": _RuleName("adam", "adam.", _MOMENTS, 0.001),
    "SparseSharedAdamSGDRule": _RuleName("shared_adam", "adam.", _MOMENTS, 0.001),
}


def with_settings(spec: TableSpec, given: Mapping[str, Any] | None) -> TableSpec:
    """A sparse table with the settings of `strategy.sparse_table_configs`.

    Args:
        spec: TableSpec, with the rule of the optimizer.
        given: {"table_parameters.NAME.field": value}, or None.
    Raises:
        ValueError: a field is none of Paddle's, or has a value that is not allowed.
    """
    if not given:
        return spec
    fields = _without_prefix(spec.name, given)
    storage = fields.pop("table_class", spec.storage)
    if storage not in _STORAGES:
        _refuse(spec.name, "table_class", storage, f"it must be one of {', '.join(_STORAGES)}")
    statistics = {
        name: float(fields.pop(_STATISTICS + name))
        for name in accessor_settings()
        if _STATISTICS + name in fields
    }
    spec = spec._replace(storage=storage, accessor=accessor_settings(**statistics))
    spec = _with_rule(spec, fields)
    unused = [name for name in fields if name in _UNUSED]
    unknown = [name for name in fields if name not in _UNUSED]
    if unknown:
        _refuse(spec.name, unknown[0], fields[unknown[0]], "there is no such field")
    if unused:
        warnings.warn(
            f"strategy.sparse_table_configs: table {spec.name!r}: {', '.join(unused)} do nothing here",
            stacklevel=2,
        )
    return spec


def _without_prefix(table: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by their names below the table's."""
    prefix = f"table_parameters.{table}."
    for name, value in given.items():
        if not name.startswith(prefix):
            _refuse(table, name, value, f"names begin with {prefix!r}")
    return {name.removeprefix(prefix): value for name, value in given.items()}


def _refuse(table: str, name: str, value: Any, allowed: str) -> None:
    raise ValueError(
        f"strategy.sparse_table_configs: table {table!r}: {name}: got {value!r}; {allowed} ({CALLER})"
    )


def _with_rule(spec: TableSpec, fields: dict[str, Any]) -> TableSpec:
    """Takes the fields of rules out of a dict. Rows have one rule for all columns."""
    found = {}
    for part in (_FIRST_COLUMN, _OTHER_COLUMNS):
        own = {name.removeprefix(part): fields.pop(name) for name in list(fields) if name.startswith(part)}
        if own:
            found[part] = own
    if not found:
        return spec
    # Paddle has one rule for the first column of a row and one for the others.
    if len(found) == 2 and found[_FIRST_COLUMN] != found[_OTHER_COLUMNS]:
        _refuse(
            spec.name,
            _OTHER_COLUMNS.rstrip("."),
            found[_OTHER_COLUMNS],
            "a row has one rule, so it must be that of embed_sgd_param",
        )
    part, settings = next(iter(found.items()))
    return _with_named_rule(spec, part, settings)


def _with_named_rule(spec: TableSpec, part: str, settings: dict[str, Any]) -> TableSpec:
    name = settings.pop("name", None)
    if name not in _RULES:
        _refuse(spec.name, f"{part}name", name, f"it must be one of {', '.join(_RULES)}")
    known = _RULES[name]
    own = {
        key.removeprefix(known.group): settings.pop(key)
        for key in list(settings)
        if key.startswith(known.group)
    }
    # The rule of the strategy replaces that of the optimizer, but for its decay.
    rule: dict[str, Any] = {"name": known.rule, "factor": 1.0, "decay": spec.rule.get("decay", 0.0)}
    rule["rate"] = float(own.pop("learning_rate", known.rate))
    for field, (setting, value) in known.settings.items():
        rule[setting] = float(own.pop(field, value))
    bounds = own.pop("weight_bounds", None)
    if bounds:
        rule["bounds"] = [float(bound) for bound in bounds]
    distance = own.pop("initial_range", None)
    groups = tuple(each.group for each in _RULES.values())
    left = {known.group + name: value for name, value in own.items()}
    # settings of other rules do nothing, as in Paddle
    left |= {name: value for name, value in settings.items() if not name.startswith(groups)}
    for name, value in left.items():
        _refuse(spec.name, part + name, value, "there is no such field")
    spec = spec._replace(rule=rule)
    if distance is None:
        return spec
    return spec._replace(first={"kind": "uniform", "low": -float(distance), "high": float(distance)})
