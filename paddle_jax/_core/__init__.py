"""The machine: values, dispatch, tape, dtypes, devices, flags, random state, errors. Nothing outside knows
about execution modes."""
