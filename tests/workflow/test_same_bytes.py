"""Tables and figures are the same bytes whatever the number of cores."""

import pytest
from workspaces import Workspace, differing

pytestmark = pytest.mark.workflow


def test_one_core_and_two_give_the_same_tables_and_figures(tiny, tmp_path):
    alone = Workspace(tmp_path / "on one core", tiny.config, tiny.sources)
    alone.snakemake(cores=1)
    ours, theirs = alone.outputs(), tiny.outputs()
    assert differing(ours, theirs) == []
    endings = {name.rpartition(".")[2] for name in ours}
    assert endings == {"csv", "md", "tex", "svg", "pdf", "png"}
    # The policies behind them are the same too, or the tables would agree by being blunt.
    assert differing(alone.outputs((".safetensors",)), tiny.outputs((".safetensors",))) == []
    assert "0.000 [0.000, 0.000]" not in (tiny.results / "tables/table1.md").read_text().split("grpo 2")[1]
