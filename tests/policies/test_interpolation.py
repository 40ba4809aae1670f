import pytest
import torch

from workflow_scripts.policies.architecture import EMBEDDING, FINAL_NORM, Architecture
from workflow_scripts.policies.interpolation import interpolated, load_pair, refuse_other_words
from workflow_scripts.policies.model import new_policy, save_policy
from workflow_scripts.policies.tokenizer import SPECIAL, save_tokenizer
from workflow_scripts.records.errors import UserError

SIZES = {"hidden": 16, "layers": 3, "heads": 2, "head_dim": 8, "mlp": 24, "positions": 32}


def small(seed: int, vocabulary: int = 12, **changes):
    return new_policy(Architecture(vocabulary, **(SIZES | changes)), seed=seed)


def bits(tensor):
    return tensor.detach().clone().view(torch.int32)


def same(one, other, name):
    return torch.equal(bits(one.parameters[name]), bits(other.parameters[name]))


@pytest.fixture(scope="module")
def late():
    return small(1)


@pytest.fixture(scope="module")
def early():
    return small(2)


@pytest.mark.parametrize("blocks", [None, (0, 1), (1, 3), (0, 3)])
def test_alpha_0_is_the_late_policy_bit_for_bit(late, early, blocks):
    before = bits(late.flat), bits(early.flat)
    made = interpolated(late, early, 0, blocks)
    assert torch.equal(bits(made.flat), before[0]) and made.flat.data_ptr() != late.flat.data_ptr()
    assert torch.equal(bits(late.flat), before[0]) and torch.equal(bits(early.flat), before[1])


def test_alpha_1_with_all_weights_is_the_early_policy_bit_for_bit(late, early):
    assert torch.equal(bits(interpolated(late, early, 1.0).flat), bits(early.flat))
    # the formula as it stands would not do
    assert not torch.equal(bits(late.flat + (early.flat - late.flat)), bits(early.flat))


@pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 2), (1, 3), (0, 3)])
@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_only_the_blocks_move(late, early, start, end, alpha):
    made = interpolated(late, early, alpha, (start, end))
    inside = {f"model.layers.{layer}." for layer in range(start, end)}
    moved = 0
    for name in late.parameters:
        if any(name.startswith(block) for block in inside):
            moved += not same(made, late, name)
            assert alpha < 1 or same(made, early, name)
        else:
            assert same(made, late, name), name
    assert moved == 7 * (end - start)  # the norms of a new policy are all ones
    assert same(made, late, EMBEDDING) and same(made, late, FINAL_NORM)


def test_a_quarter_of_the_way_by_hand(late, early):
    one, other = late.copy(), early.copy()
    one.flat.fill_(2.0)
    other.flat.fill_(6.0)
    assert interpolated(one, other, 0.25).flat.unique().tolist() == [3.0]  # 2 + ¼ · (6 − 2)
    half = interpolated(one, other, 0.5, (1, 2))
    assert {name: t.unique().tolist() for name, t in half.tensors().items()} == {
        name: [4.0] if name.startswith("model.layers.1.") else [2.0] for name in half.parameters
    }


def test_the_tied_embedding_moves_once(late, early):
    made = interpolated(late, early, 0.5)
    wanted = late.parameters[EMBEDDING] + 0.5 * (early.parameters[EMBEDDING] - late.parameters[EMBEDDING])
    assert torch.equal(made.parameters[EMBEDDING].detach(), wanted.detach())
    assert "lm_head.weight" not in made.parameters and made.architecture.config()["tie_word_embeddings"]


@pytest.mark.parametrize(
    ("alpha", "blocks", "words"),
    [
        (-0.1, None, r"alpha of an interpolation must be in \[0, 1\], not -0.1"),
        (1.01, (0, 1), "not 1.01"),
        (float("nan"), None, "not nan"),
        (0.5, (2, 4), r"blocks 2 to 4 \(exclusive\) are not a range of the policy's 3 blocks"),
        (0.5, (-1, 2), "blocks -1 to 2"),
        (0.5, (1, 1), "blocks 1 to 1"),
        (0, (0, 9), "blocks 0 to 9"),
    ],
)
def test_impossible_interpolations_are_named(late, early, alpha, blocks, words):
    with pytest.raises(UserError, match=words):
        interpolated(late, early, alpha, blocks)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"hidden": 24}, "hidden is 16 and 24"),
        ({"layers": 2}, "layers is 3 and 2"),
        ({"model_type": "qwen3"}, "model_type is 'llama' and 'qwen3'"),
        ({"vocabulary": 13}, "vocabulary is 12 and 13"),
        ({"rope_theta": 500.0}, "rope_theta"),
    ],
)
def test_other_architectures_are_refused_by_name(late, other, words):
    with pytest.raises(UserError, match=words):
        interpolated(late, small(2, **other), 0.5)


def test_a_critic_is_no_partner(late, early):
    with pytest.raises(UserError, match=r"score\.weight; a critic is not a policy"):
        interpolated(late, early.copy(value_head=True), 0.5)


def saved(policy, folder, words):
    save_policy(policy, folder)
    save_tokenizer(words, folder)
    return folder


def words(*others):
    return [*SPECIAL, *others, *(f"w{i}" for i in range(12 - len(SPECIAL) - len(others)))]


def test_a_pair_is_read_from_folders(tmp_path, late, early):
    folders = saved(late, tmp_path / "late", words()), saved(early, tmp_path / "early", words())
    read = load_pair(*folders)
    assert torch.equal(bits(read[0].flat), bits(late.flat)) and torch.equal(bits(read[1].flat), bits(early.flat))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["early", "late"]


def test_other_words_are_refused_by_name(tmp_path, late, early):
    one = saved(late, tmp_path / "late", words("yes", "no"))
    other = saved(early, tmp_path / "early", words("yes", "not"))
    with pytest.raises(UserError, match="word 4 is 'no' in one and 'not' in the other"):
        load_pair(one, other)
    save_tokenizer(words("yes", "no")[:-1], other)
    with pytest.raises(UserError, match="word 11 is 'w6' in one and nothing in the other"):
        refuse_other_words(one, other)


def test_an_output_head_that_is_not_the_embedding_is_refused(tmp_path, late, early):
    from safetensors.torch import save_file

    folders = [saved(policy, tmp_path / str(i), words()) for i, policy in enumerate((late, early))]
    tensors = {name: t.clone() for name, t in early.tensors().items()}
    save_file(tensors | {"lm_head.weight": tensors[EMBEDDING].clone()}, folders[1] / "model.safetensors")
    load_pair(*folders)  # repeated, and the same
    save_file(tensors | {"lm_head.weight": tensors[EMBEDDING] + 1}, folders[1] / "model.safetensors")
    with pytest.raises(UserError, match=r"lm_head\.weight is another tensor"):
        load_pair(*folders)
