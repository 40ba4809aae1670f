import pandas as pd
import pytest

from workflow_scripts.policies.architecture import Architecture
from workflow_scripts.policies.interventions import run_settings, settings_of
from workflow_scripts.policies.model import load_policy, new_policy, save_policy
from workflow_scripts.policies.sampling import Prompt, load_speaker, sample_policy, sample_requests
from workflow_scripts.policies.tokenizer import save_tokenizer
from workflow_scripts.records.errors import UserError
from workflow_scripts.records.schemas import ROLLOUTS

WORDS = ["<pad>", "<unk>", "<eos>", "<think>", "</think>", "->", "try", "+", "*", *map(str, range(9))]
STUDY = {"temperature": 0.7, "top_p": 0.9, "max_new_tokens": 10, "study_seed": 7}
TEXTS = {"1_2-3": "1 2 -> 3 <think>", "2_4-8": "2 4 -> 8 <think>"}
ALL = {"plain": [(name, text, "", s) for name, text in TEXTS.items() for s in range(8)]}
COLUMNS = ["problem_id", "text", "prefix", "sample"]


def requests(rows):
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}
    for seed, name in enumerate(("late", "early", "other")):
        path = made[name] = tmp_path_factory.mktemp(name)
        words = WORDS if name != "other" else [*WORDS[:-1], "nine"]
        save_tokenizer(words, path)
        sizes = {"hidden": 32, "layers": 2, "heads": 2, "head_dim": 16, "mlp": 48, "positions": 32}
        save_policy(new_policy(Architecture(len(WORDS), **sizes), seed=seed, spread=0.3), path)
    return made


def run(folders, *rows, asked=None, **changes):
    settings = settings_of([{"policy": "late"} | row for row in rows])
    return run_settings(folders, asked or {"plain": requests(ALL["plain"])}, settings, **(STUDY | changes)).to_pandas()


def content(table, setting):
    return table[table["policy"] == setting].drop(columns="policy").reset_index(drop=True)


def test_requests_are_samples_like_any_other(folders):
    whole = sample_policy(folders["late"], [Prompt(*item) for item in TEXTS.items()], policy="late", samples=8, **STUDY)
    one_by_one = sample_requests(
        load_speaker(folders["late"]), requests(ALL["plain"]), policy="late", stream="late", **STUDY
    )
    assert one_by_one.equals(whole) and whole.schema == ROLLOUTS
    back = requests(ALL["plain"][::-1])
    turned = sample_requests(load_speaker(folders["late"]), back, policy="late", stream="late", **STUDY).to_pandas()
    assert turned[::-1].reset_index(drop=True).equals(whole.to_pandas())


def test_a_sample_asked_for_twice_is_named(folders):
    with pytest.raises(UserError, match="sample 3 of problem 1_2-3, prefix '', twice"):
        run(folders, {"setting": "a"}, asked={"plain": requests([*ALL["plain"], ALL["plain"][3]])})


def test_changes_by_nothing_are_the_plain_policy_and_by_all_the_partner(folders):
    partner = {"partner": "early"}
    table = run(
        folders,
        {"setting": "plain"},
        {"setting": "theirs", "policy": "early"},
        {"setting": "interpolated 0", "change": "interpolation", "alpha": 0, "blocks": [0, 2]} | partner,
        {"setting": "interpolated 1", "change": "interpolation", "alpha": 1} | partner,
        {"setting": "mixed 0", "change": "mixing", "alpha": 0, "strategy": "reasoning"} | partner,
        {"setting": "mixed 1", "change": "mixing", "alpha": 1, "strategy": "global"} | partner,
        {"setting": "warm", "temperature": 0.7, "top_p": 0.9, "min_p": 0},
        {"setting": "hot", "temperature": 3, "top_p": 1, "min_p": 0},
        {"setting": "cut", "temperature": 3, "top_p": 1, "min_p": 1},
    )
    plain = content(table, "plain")
    for same in ("interpolated 0", "mixed 0", "warm"):
        assert content(table, same).equals(plain), same
    assert content(table, "interpolated 1").equals(content(table, "mixed 1"))
    for other in ("theirs", "interpolated 1", "hot"):
        assert not content(table, other)["completion"].equals(plain["completion"]), other
    greedy = content(run(folders, {"setting": "g"}, temperature=0), "g")
    assert content(table, "cut")["completion"].equals(greedy["completion"])


def test_half_of_the_samples_are_the_partners_own(folders):
    rows = {"setting": "both", "change": "checkpoints", "partner": "early"}, {"setting": "late"}
    table = run(folders, *rows, {"setting": "early", "policy": "early"})
    both, late, early = (content(table, setting) for setting in ("both", "late", "early"))
    key = ["problem_id", "sample"]
    wanted = pd.concat([early[early["sample"] < 4], late[late["sample"] >= 4]]).sort_values(key, ignore_index=True)
    assert both.sort_values(key, ignore_index=True).equals(wanted)
    assert not early["completion"].equals(late["completion"])
    quarter = run(folders, rows[0] | {"share": 0.25})
    assert len(quarter) == 16 and not quarter.duplicated(["problem_id", "sample"]).any()


def test_settings_answer_their_own_requests(folders):
    asked = {"plain": requests(ALL["plain"]), "forced": requests([("1_2-3", TEXTS["1_2-3"], "try 1 *", 5)])}
    table = run(folders, {"setting": "forced", "requests": "forced"}, {"setting": "plain"}, asked=asked)
    assert table["policy"].tolist() == ["forced"] + ["plain"] * 16
    assert (table["prefix"][0], table["sample"][0]) == ("try 1 *", 5)
    alone = run(folders, {"setting": "plain"}, {"setting": "forced", "requests": "forced"}, asked=asked)
    assert content(alone, "forced").equals(content(table, "forced"))


def test_no_folder_is_written_and_none_is_changed(folders):
    before = load_policy(folders["late"]).flat.clone()
    names = {name: sorted(p.name for p in path.iterdir()) for name, path in folders.items()}
    run(folders, {"setting": "a", "change": "interpolation", "alpha": 0.5, "partner": "early"})
    assert (load_policy(folders["late"]).flat == before).all()
    assert names == {name: sorted(p.name for p in path.iterdir()) for name, path in folders.items()}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"aplha": 1}, "row 1 of the settings: unknown key 'aplha' .did you mean 'alpha'"),
        ({"setting": None, "policy": "gone"}, "there is no policy 'gone'"),
        ({"change": "surgery"}, "change 'surgery' is none of none, interpolation"),
        ({"change": "mixing"}, "mixing needs a partner"),
        ({"change": "mixing", "partner": "gone"}, "there is no partner 'gone'"),
        ({"requests": "gone"}, "there is no requests 'gone'; given are plain"),
        ({"change": "interpolation", "partner": "early", "alpha": 2}, "setting s: alpha .* not 2"),
        ({"change": "interpolation", "partner": "early", "blocks": [1, 3]}, "setting s: blocks 1 to 3"),
        ({"change": "interpolation", "partner": "early", "blocks": [1]}, "setting s: blocks are .start, end., not"),
        ({"change": "interpolation", "partner": "other", "alpha": 0}, "word 17 is '8' in one and 'nine'"),
        ({"change": "mixing", "partner": "other"}, "setting s: .* different vocabularies"),
        ({"change": "checkpoints", "partner": "other"}, "different vocabularies"),
        ({"change": "checkpoints", "partner": "early", "share": 1.5}, "share must be in"),
        ({"min_p": 2}, "setting s: cannot sample with min_p 2"),
    ],
)
def test_impossible_settings_are_named(folders, row, words):
    with pytest.raises(UserError, match=words):
        run(folders, {"setting": "s"} | row)


def test_a_name_is_given_once_and_must_be_there():
    with pytest.raises(UserError, match="'a' is given twice"):
        settings_of([{"setting": "a", "policy": "p"}, {"setting": "a", "policy": "q"}])
    with pytest.raises(UserError, match="row 2 of the settings: policy is missing"):
        settings_of([{"setting": "a", "policy": "p"}, {"setting": "b"}])


def test_no_settings_give_no_rollouts(folders):
    assert run_settings(folders, {}, [], **STUDY).num_rows == 0
