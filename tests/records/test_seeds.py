import numpy as np
from scipy import stats

from workflow_scripts.records import seeds


def test_keys_differ_where_identities_do():
    identities = [("a", "bc"), ("ab", "c"), (1, "2"), ("1", 2), (1, 2), (12,), ("a", "b", "c")]
    assert len({seeds.key(*parts) for parts in identities}) == len(identities)


def test_a_sample_keeps_its_stream_whatever_is_asked_with_it():
    many = seeds.sample_keys(1, "base", "2_3-5", "", samples=range(320))
    few = seeds.sample_keys(1, "base", "2_3-5", "", samples=range(100, 110))
    assert (many[100:110] == few).all()
    assert len(set(many.tolist())) == 320
    assert (seeds.uniforms(many, 7)[100:110] == seeds.uniforms(few, 7)).all()


def test_splitmix_agrees_with_its_definition():
    def reference(state: int, draw: int) -> float:
        mask = (1 << 64) - 1
        z = (state + (draw + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return ((z ^ (z >> 31)) >> 11) / 2**53

    keys = np.array([0, 1, 2**64 - 1], dtype=np.uint64)
    for draw in (0, 1, 40):
        assert seeds.uniforms(keys, draw).tolist() == [reference(int(key), draw) for key in keys]


def test_draws_are_uniform_and_unrelated_between_streams():
    keys = seeds.sample_keys(1, "base", samples=range(4000))
    first, second = seeds.uniforms(keys, 0), seeds.uniforms(keys, 1)
    assert stats.kstest(first, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.05
