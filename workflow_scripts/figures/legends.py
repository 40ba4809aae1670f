"""One legend for all panels of a figure."""

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.lines import Line2D


def above(figure: Figure, looks: Mapping[str, tuple[str, str]], *, what: str, confidence: float, rows: int = 1) -> None:
    """Puts a legend over the panels. looks: label to (colour, marker). what: the things that are told apart."""
    handles = [
        Line2D([], [], color=colour, marker=marker, markeredgecolor="white", label=label)
        for label, (colour, marker) in looks.items()
    ]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=-(-len(looks) // rows),
        title=f"{what} (band, bar: {100 * confidence:g} % interval over problems)",
        title_fontsize=7,
    )
