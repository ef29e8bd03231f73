#!/usr/bin/env python3
"""Tests runs by many hosts on a real Ray cluster: two nodes in network namespaces, because Ray listens on every
interface. Needs root and `ip`; without them it says that it did not run.

    tools/test-ray.py

It builds the Python package in the profile of the other tests, in a virtual environment in the target folder, and downloads
Ray once. TRIPHAMMER_RAY_PYTHON names an interpreter that has both, which is then used as it is.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")))
HEAD, NODE = "10.77.0.1", "10.77.0.2"
# Limits of waits, in seconds.
NODES_MAX_S = 120
RUN_MAX_S = 180


def main():
    reason = obstacle()
    if reason:
        print(f"runs on Ray: not run: {reason}")
        return
    python = os.environ.get("TRIPHAMMER_RAY_PYTHON") or environment()
    with cluster(python) as ray:
        for test in (same_transactions, through_the_client, open_load, beside_sources, campaign, build, lost_node,
                     library, other_version):
            test(ray)
            print(f"ok: {test.__name__.replace('_', ' ')}", flush=True)


def obstacle():
    """Why the cluster cannot be started here; ``None`` if it can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "`ip` is missing: apt-get install iproute2"
    tried = subprocess.run(["ip", "netns", "add", f"th-{os.getpid()}"], capture_output=True, text=True)
    if tried.returncode:
        return f"network namespaces are not permitted: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "delete", f"th-{os.getpid()}"], check=True)
    return None


def environment():
    """Builds the package into a virtual environment with Ray; returns its interpreter."""
    venv = os.path.join(TARGET, "python-ray")
    inside = os.path.join(venv, "bin", "python")
    if not os.path.exists(inside):
        subprocess.run(["python3", "-m", "venv", venv], check=True)
    subprocess.run([inside, "-m", "pip", "install", "--quiet", "maturin>=1.9,<2", "ray[client]>=2.9"], check=True)
    path = os.path.join(venv, "bin") + os.pathsep + os.environ["PATH"]
    variables = {**os.environ, "VIRTUAL_ENV": venv, "PATH": path}
    subprocess.run([os.path.join(venv, "bin", "maturin"), "develop", "--quiet"], cwd=os.path.join(ROOT, "python"),
                   env=variables, check=True)
    return inside


class Ray:
    """Two nodes: the head, in whose namespace commands run, and another one."""

    def __init__(self, python, folder):
        self.python = python
        self.folder = folder
        self.names = [f"th-{os.getpid()}-{which}" for which in ("head", "node")]
        self.variables = {
            "PATH": os.path.dirname(python) + os.pathsep + os.environ["PATH"],
            "HOME": folder,
            "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite"),
            "RAY_DISABLE_USAGE_STATS": "1",
            "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
            # Of pip, if the interpreter is one that was prepared.
            **{name: value for name, value in os.environ.items() if name in ("PYTHONPATH", "LD_LIBRARY_PATH")},
        }

    def popen(self, which, command, variables=None, **options):
        command = ["ip", "netns", "exec", self.names[which], *command]
        return subprocess.Popen(command, env={**self.variables, **(variables or {})}, text=True, **options)

    def start(self):
        head, node = self.names
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", "th0", "netns", head, "type", "veth", "peer", "name", "th0", "netns", node)
        for name, address in zip(self.names, (HEAD, NODE)):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "th0")
            ip("-n", name, "link", "set", "th0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        self.node(0, ["--head", "--node-ip-address", HEAD, "--port", "6379", "--ray-client-server-port", "10001",
                      "--include-dashboard", "false", "--temp-dir", os.path.join(self.folder, "ray")])
        self.second_node()

    def second_node(self, variables=None):
        # A node that is started before the head answers ends.
        self.wait_for_nodes(1)
        self.node(1, ["--address", f"{HEAD}:6379", "--node-ip-address", NODE], variables)
        self.wait_for_nodes(2)

    def node(self, which, arguments, variables=None):
        ray = os.path.join(os.path.dirname(self.python), "ray")
        common = ["--num-cpus", "2", "--disable-usage-stats", "--block"]
        with open(os.path.join(self.folder, f"node-{which}.log"), "a") as log:
            self.popen(which, [ray, "start", *arguments, *common], variables, stdout=log, stderr=log)

    def wait_for_nodes(self, count):
        code = ("import ray; ray.init(address='auto', logging_level='ERROR', log_to_driver=False);"
                f"raise SystemExit(sum(node['Alive'] for node in ray.nodes()) != {count})")
        until = time.monotonic() + NODES_MAX_S
        while self.popen(0, [self.python, "-c", code], stderr=subprocess.DEVNULL).wait():
            if time.monotonic() > until:
                sys.exit(f"no {count} nodes of Ray: see {self.folder}")
            time.sleep(0.5)

    def kill_node(self):
        """Kills every process of the second node."""
        for process in processes(self.names[1]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def end(self):
        for name in reversed(self.names):
            for process in processes(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            subprocess.run(["ip", "netns", "delete", name], check=False)

    def triphammer(self, *arguments, code=0):
        """Runs the program in the head's namespace; returns its document."""
        child = self.begin(*arguments)
        return self.document(child, code)

    def begin(self, *arguments):
        command = [self.python, "-m", "triphammer", *arguments, "--json"]
        return self.popen(0, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def document(self, child, code=0):
        out, err = child.communicate(timeout=RUN_MAX_S)
        assert child.returncode == code, f"exit code {child.returncode}\n{err}\n{out[-2000:]}"
        return json.loads(out)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def processes(namespace):
    found = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True).stdout
    return [int(process) for process in found.split()]


@contextlib.contextmanager
def cluster(python):
    folder = tempfile.mkdtemp(prefix="th-ray-")
    ray = Ray(python, folder)
    try:
        ray.start()
        yield ray
    finally:
        ray.end()
        shutil.rmtree(folder, ignore_errors=True)


def counts(result):
    names = ("name", "started", "committed", "rolled_back", "failed")
    return [[of_type[name] for name in names] for of_type in result["run"]["types"]]


def same_transactions(ray):
    run = ("run", "null:", "-w", "tproc-c", "--scale", "6", "--vus", "6", "--transactions", "300")
    alone, shared = ray.triphammer(*run), ray.triphammer(*run, "--cluster", "auto")
    assert counts(shared) == counts(alone)
    assert [host["sessions"] for host in shared["hosts"]] == [3, 3]
    assert all(host["loss"] is None for host in shared["hosts"])


def through_the_client(ray):
    result = ray.triphammer("run", "null:?service=2ms", "-w", "tpc-b", "--vus", "4", "--rampup", "1s",
                            "--duration", "3s", "--cluster", f"ray://{HEAD}:10001")
    assert result["status"] == "complete" and len(result["hosts"]) == 2
    print("  clock, error and delay of the start, in ms:",
          [[host[name] for name in ("clock_offset_ms", "clock_error_ms", "start_late_ms")] for host in result["hosts"]])


def open_load(ray):
    run = ("run", "null:?service=2ms", "-w", "tpc-b", "--vus", "8", "--rampup", "0s", "--duration", "4s",
           "--load", "rate:200/s,constant")
    alone, shared = ray.triphammer(*run), ray.triphammer(*run, "--cluster", "auto", "--hosts", "2")
    assert shared["arrivals"]["offered"] == alone["arrivals"]["offered"]


def beside_sources(ray):
    """The source of a package in the current folder, which is not compiled, does not hide the one of the hosts."""
    sources = os.path.join(ray.folder, "sources")
    os.makedirs(os.path.join(sources, "triphammer"))
    with open(os.path.join(sources, "triphammer", "__init__.py"), "w") as file:
        file.write("raise ImportError('not compiled')\n")
    program = os.path.join(os.path.dirname(ray.python), "triphammer")
    run = ("run", "null:", "-w", "tpc-b", "--vus", "2", "--transactions", "100", "--cluster", "auto", "--json")
    child = ray.popen(0, [program, *run], cwd=sources, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert len(ray.document(child)["hosts"]) == 2


def campaign(ray):
    profile = ray.triphammer("profile", "null:?service=2ms", "-w", "tpc-b", "--vus", "2,4", "--repeats", "1",
                             "--rampup", "0s", "--duration", "2s", "--cool-down", "0s", "--cluster", "auto")
    assert profile["status"] == "complete"


def build(ray):
    """Both nodes load a database in the head's namespace."""
    sys.path.insert(0, os.path.join(ROOT, "bench"))
    import lib

    class Postgres(lib.Postgres):
        @staticmethod
        def as_user(command):
            return ["ip", "netns", "exec", ray.names[0], *lib.Postgres.as_user(command)]

    hba = os.path.join(ray.folder, "pg_hba.conf")
    with open(hba, "w") as file:
        file.write(f"local all all trust\nhost all all {HEAD}/24 trust\n")
    with Postgres(listen_addresses=HEAD, hba_file=hba) as server:
        target = f"postgres://postgres@{HEAD}:{server.port}/bank?sslmode=disable"
        built = ray.triphammer("build", target, "-w", "tpc-b", "--scale", "6", "--create-database", "--cluster", "auto")
        assert len(built["hosts"]) == 2 and len({host["rows"] for host in built["hosts"]}) == 1, built
        assert built["rows"] == sum(host["rows"] for host in built["hosts"])
        ray.triphammer("check", target, "-w", "tpc-b")


def lost_node(ray):
    child = ray.begin("run", "null:?service=5ms", "-w", "tpc-b", "--vus", "6", "--rampup", "0s", "--duration", "20s",
                      "--cluster", "auto")
    wait_for_seconds(ray, child)
    ray.kill_node()
    result = ray.document(child, code=1)
    lost = [host for host in result["hosts"] if host["loss"]]
    assert len(lost) == 1 and result["status"] == "complete", result["hosts"]
    assert result["run"]["total"]["indeterminate"] == lost[0]["loss"]["in_doubt"]
    print("  lost:", lost[0]["loss"])


def wait_for_seconds(ray, child):
    """Waits until the run of this process has stored seconds."""
    import sqlite3

    until = time.monotonic() + RUN_MAX_S
    while True:
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < until, "no seconds"
        with contextlib.suppress(sqlite3.Error), \
                contextlib.closing(sqlite3.connect(f"file:{ray.variables['TRIPHAMMER_STORE']}?mode=ro", uri=True)) as store:
            query = "SELECT count(*) FROM seconds JOIN jobs ON jobs.id = job WHERE status = 'running'"
            if store.execute(query).fetchone()[0] > 0:
                return
        time.sleep(0.1)


def library(ray):
    code = ("import triphammer\n"
            "run = triphammer.run('null:?service=2ms', workload='tpc-b', vus=2, rampup='0s', duration='2s', cluster='auto')\n"
            "result = run.result()\n"
            "assert result.good and len(result.hosts) == 1, result.hosts\n")
    child = ray.popen(0, [ray.python, "-c", code], stderr=subprocess.PIPE)
    _, err = child.communicate(timeout=RUN_MAX_S)
    assert child.returncode == 0, err


def other_version(ray):
    """A node that has another version of the package is named before anything starts."""
    old = os.path.join(ray.folder, "old")
    os.makedirs(os.path.join(old, "triphammer"))
    with open(os.path.join(old, "triphammer", "__init__.py"), "w") as file:
        file.write("__version__ = '0.0.1'\n")
    ray.second_node({"PYTHONPATH": os.pathsep.join([old, *filter(None, [ray.variables.get("PYTHONPATH")])])})
    run = [ray.python, "-m", "triphammer", "run", "null:", "-w", "tpc-b", "--duration", "1s", "--cluster", "auto"]
    child = ray.popen(0, run, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = child.communicate(timeout=RUN_MAX_S)
    assert child.returncode == 2 and out == "", out + err
    assert "all hosts need version" in err and " has 0.0.1" in err, err


if __name__ == "__main__":
    main()
