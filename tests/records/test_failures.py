from dataclasses import dataclass, field

from workflow_scripts.records.failures import FAILED, keep_to_be_done


@dataclass
class Noted:
    params: list = field(default_factory=lambda: ["'strict'"])


@dataclass
class Job:
    output: list


class Persistence:
    def __init__(self, *paths):
        self.notes = {str(path): Noted() for path in paths}

    def metadata(self, path):
        return self.notes.get(str(path))

    def _write_record(self, key, noted):
        self.notes[key] = noted


class Dag:
    def __init__(self, *jobs):
        self.jobs = jobs

    def needrun_jobs(self):
        return iter(self.jobs)


def test_only_jobs_without_their_outputs_are_marked(tmp_path):
    there, gone, never = tmp_path / "there.csv", tmp_path / "gone.csv", tmp_path / "never noted.csv"
    there.touch()
    persistence = Persistence(there, gone)
    marked = keep_to_be_done(Dag(Job([there]), Job([gone, never])), persistence)
    assert marked == [str(gone)]
    assert persistence.notes[str(gone)].params == [FAILED]
    assert persistence.notes[str(there)].params == ["'strict'"]
