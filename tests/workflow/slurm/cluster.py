"""A SLURM cluster of one node on this machine, in a folder of its own: started and stopped by tests."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent
SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"

WRAPPERS = {
    # Snakemake's executor calls srun without the variables of SLURM, SLURM_CONF among them.
    "srun": '#!/bin/sh\nSLURM_CONF={conf} exec /usr/bin/srun "$@"\n',
    # It looks ever more rarely at jobs that go on. Asked about a run, squeue answers once one of its jobs has ended.
    "squeue": """#!/bin/sh
waiting() {{ /usr/bin/squeue -h -t R,PD,CG --name "$1" | wc -l; }}
case "$*" in *--name*)
  for run; do :; done
  first=$(waiting "$run")
  for _ in $(seq 100); do
    now=$(waiting "$run")
    if [ "$now" -eq 0 ] || [ "$now" -lt "$first" ]; then break; fi
    sleep 0.4
  done
esac
exec /usr/bin/squeue "$@"
""",
}


class Unavailable(Exception):
    """SLURM cannot be had on this machine; the message says why."""


def installed():
    """Installs SLURM where it is missing. Raises Unavailable."""
    if os.geteuid() != 0:
        raise Unavailable("only root can run a SLURM controller and its node daemon here")
    done = subprocess.run([HERE / "install.sh"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"SLURM cannot be installed: {done.stderr.strip()[-300:]}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A running cluster. `variables` make clients talk to it and to no other; partitions are `cpu` and `gpu`."""

    def __init__(self, folder: Path):
        self.folder, self.daemons = folder, []
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder / 'bin'}:{SYSTEM}"}
        for name in ("node", "controller", "bin"):
            (folder / name).mkdir(parents=True)
        for name, text in WRAPPERS.items():
            wrapper = folder / "bin" / name
            wrapper.write_text(text.format(conf=folder / "slurm.conf"))
            wrapper.chmod(0o755)
        filled = (
            (HERE / "slurm.conf")
            .read_text()
            .format(
                host=socket.gethostname().partition(".")[0],
                controller_port=free_port(),
                node_port=free_port(),
                folder=folder,
            )
        )
        (folder / "slurm.conf").write_text(filled)
        (folder / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n")  # to be counted
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)

    def start(self):
        """Starts munge, the controller and the node daemon, and waits until the node is idle. Raises Unavailable."""
        own = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munge.pid", "seed-file": "munge.seed"}
        places = [f"--{option}={self.folder / name}" for option, name in (own | {"log-file": "munge.log"}).items()]
        self._daemon("munged", "--foreground", "--force", *places)
        self._until(lambda: (self.folder / "munge.socket").exists(), "munged does not listen")
        self._daemon("slurmctld", "-D", "-c")
        self._until(lambda: "UP" in self.said("scontrol", "ping"), "the controller does not answer")
        self._daemon("slurmd", "-D")
        self._until(lambda: self.said("sinfo", "-h", "-o", "%t").split()[:1] == ["idle"], "the node does not come up")
        return self

    def _daemon(self, name, *options):
        # However the tests end, their daemons end with them.
        call = ["setpriv", "--pdeathsig", "TERM", shutil.which(name, path=SYSTEM), *options]
        log = (self.folder / f"{name}.out").open("w")
        variables = {**os.environ, **self.variables}
        self.daemons.append(subprocess.Popen(call, stdout=log, stderr=log, env=variables, start_new_session=True))

    def _until(self, condition, otherwise, seconds=30):
        for _ in range(seconds * 10):
            if condition():
                return
            if any(daemon.poll() is not None for daemon in self.daemons):
                break
            time.sleep(0.1)
        logs = "\n".join(path.read_text()[-500:] for path in sorted(self.folder.glob("*.out")))
        self.stop()
        raise Unavailable(f"{otherwise}: {logs}")

    def stop(self):
        """Ends the jobs that are left, and then the daemons that were started here."""
        if len(self.daemons) == 3:
            with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
                self.said("scancel", "--user=root")
                self.wait(lambda: not self.said("squeue", "-h", "-t", "R,PD,CG"), 10)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()

    def said(self, *call):
        """What a SLURM command writes."""
        return subprocess.run(
            call, capture_output=True, text=True, env={**os.environ, **self.variables}, check=False, timeout=30
        ).stdout

    def wait(self, condition, seconds):
        """The first true value of `condition()`, asked every fifth of a second; an assertion fails after `seconds`."""
        for _ in range(seconds * 5):
            value = condition()
            if value:
                return value
            time.sleep(0.2)
        raise AssertionError(f"not within {seconds} s; jobs:\n{self.said('squeue', '-t', 'all')}")

    def jobs(self, state="all"):
        """Number and rule of the jobs in a state, in order of submission."""
        rows = self.said("squeue", "-h", "-S", "i", "-t", state, "-o", "%i|%k").splitlines()
        return [(int(number), comment) for number, comment in (row.split("|", 1) for row in rows)]

    def shown(self, job):
        """Fields of a job, as `scontrol show job` names them."""
        return dict(re.findall(r"(\S+?)=(\S*)", self.said("scontrol", "show", "job", str(job))))
