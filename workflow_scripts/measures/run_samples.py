"""One training step's numbers from the samples that verl recorded of it."""

from collections.abc import Iterable, Mapping, Sequence


def numbers_of(samples: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """Columns of run_diagnostics.COLUMNS that a step's samples tell; one that some sample does not tell is left out.

    samples: with `score`, and if recorded `input`, `tokens`, `stopped`, `format_ok`, `runs` and a verdict (`right_of`).
    Those of one prompt are its group; a prompt asked twice in a step is one.
    """
    groups: dict[object, list] = {}
    for sample in samples:
        groups.setdefault(sample.get("input"), []).append(sample)
    scores = [sample["score"] for sample in samples]
    found = {"reward": _mean(scores), "reward_min": min(scores), "reward_max": max(scores)}
    right = [right_of(sample) for sample in samples]
    columns = {name: [sample.get(name) for sample in samples] for name in ("format_ok", "runs")} | {"correct": right}
    columns["at_cap"] = [None if sample.get("stopped") is None else not sample["stopped"] for sample in samples]
    columns["length"] = lengths = [sample.get("tokens") for sample in samples]
    found |= {name: _mean(values) for name, values in columns.items() if None not in values}
    if None not in lengths:
        found["length_max"] = float(max(lengths))
    if None in groups:
        return found  # nobody knows which samples belong together
    found["prompts"] = float(len(groups))
    if len(groups) == len(samples):
        return found  # one sample a prompt: there are no groups
    found["zero_variance"] = _mean([len({sample["score"] for sample in group}) == 1 for group in groups.values()])
    if None not in right:
        counts = [sum(map(right_of, group)) for group in groups.values()]
        sizes = [len(group) for group in groups.values()]
        found["all_right"] = _mean([count == size for count, size in zip(counts, sizes, strict=True)])
        found["all_wrong"] = _mean([count == 0 for count in counts])
        found["mixed"] = _mean([0 < count < size for count, size in zip(counts, sizes, strict=True)])
    return found


def right_of(sample: Mapping[str, object]) -> bool | None:
    """Whether a recorded sample is right, by its verdict (`correct`, `acc` or `status`); None where it has none: a
    reward does not say."""
    for key in ("correct", "acc"):
        if isinstance(sample.get(key), bool | int | float):
            return float(sample[key]) == 1
    status = sample.get("status")
    return status.upper() == "OK" if isinstance(status, str) else None


def _mean(values: Iterable[float]) -> float:
    values = list(map(float, values))
    return sum(values) / len(values)
