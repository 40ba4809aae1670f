import pytest

from workflow_scripts.records import digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A toy package: a stage that uses a helper, and a module that nobody uses."""
    files = {
        "__init__.py": "",
        "stages/__init__.py": "",
        "stages/plot.py": "from workflow_scripts.library import helper\n\ndef main():\n    return helper.twice(2)\n",
        "library/__init__.py": "",
        "library/helper.py": "from workflow_scripts.library.deep import ONE\n\ndef twice(x):\n    return 2 * x * ONE\n",
        "library/deep.py": "ONE = 1\n",
        "library/unused.py": "TWO = 2\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(digest, "_ROOT", tmp_path)
    return tmp_path


def digest_now(*files):
    digest.of_code.cache_clear()
    digest._read.cache_clear()
    return digest.of_code(*files)


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("stages/plot.py", "twice(2)", "twice(3)", True),
        ("library/helper.py", "2 * x", "3 * x", True),
        ("library/deep.py", "ONE = 1", "ONE = 1.0", True),
        ("library/__init__.py", "", "ONE = 2", True),
        ("library/unused.py", "TWO = 2", "TWO = 3", False),
        ("library/helper.py", "def twice(x):", "# why\ndef twice(x):", False),
        ("library/helper.py", "def twice(x):", 'def twice(x):\n    """Doubles."""', False),
        ("library/helper.py", "return 2 * x * ONE", "return (\n        2 * x * ONE\n    )", False),
        ("library/deep.py", "ONE = 1", 'ONE = 1\n"""One."""', False),
    ],
)
def test_what_changes_the_digest(package, file, old, new, changes):
    before = digest_now("stages/plot.py")
    replace(package / file, old, new)
    assert (digest_now("stages/plot.py") != before) is changes


def test_a_module_imported_inside_a_function_counts(package):
    replace(package / "stages/plot.py", "def main():", "def main():\n    from workflow_scripts.library import unused")
    before = digest_now("stages/plot.py")
    replace(package / "library/unused.py", "TWO = 2", "TWO = 3")
    assert digest_now("stages/plot.py") != before


def test_extra_files_are_part_of_it(package):
    assert digest_now("stages/plot.py") != digest_now("stages/plot.py", "library/unused.py")


def test_an_import_circle_ends(package):
    replace(package / "library/deep.py", "ONE = 1", "from workflow_scripts.library import helper\n\nONE = 1")
    assert digest_now("stages/plot.py")
