"""What the bench scripts share: a private PostgreSQL or MariaDB, interleaved rounds, medians and ratios.

Uses only Python's standard library, so that a script runs wherever the tool and the servers do.
"""

import contextlib
import glob
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def triphammer():
    """Path of the release binary; `make build` creates it."""
    path = os.environ.get("TRIPHAMMER", os.path.join(ROOT, "target/release/triphammer"))
    if not os.path.exists(path):
        sys.exit(f"{path} does not exist: run `make build`, or set TRIPHAMMER")
    return path


def program(name):
    """Path of one of PostgreSQL's programs, of the newest version installed."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    path = found[-1] if found else shutil.which(name)
    if not path:
        sys.exit(f"{name} is not installed: apt-get install postgresql postgresql-contrib")
    return path


def free_port():
    """A port of 127.0.0.1 that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def as_user(command):
    """PostgreSQL refuses to run as root, and so does the copy of a Galera node; another user id in a separate
    namespace works."""
    if os.getuid() == 0:
        return ["unshare", "--user", "--map-user=65534", "--map-group=65534", *command]
    return command


def run(command, **options):
    """Runs a command quietly, and ends the script if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def timed(command, check=True, **options):
    """Runs a command; returns wall seconds, its own CPU seconds, its peak memory in MB, and its output. With `check`, one
    that fails ends the program."""
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, **options)
        # This child's own usage, regardless of other children.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
        out.seek(0)
        err.seek(0)
        if check and process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\nexit code {process.returncode}\n{out.read()}{err.read()}")
        return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024,
                "out": out.read(), "err": err.read()}


def peak_memory_mb(command, **options):
    """Peak resident memory of a command, run by a separate child so that others do not count."""
    code = (
        "import resource,subprocess,sys;"
        "r=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.PIPE,text=True);"
        "sys.stderr.write(r.stderr) if r.returncode else None;"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);sys.exit(r.returncode)"
    )
    return int(run([sys.executable, "-c", code, *command], **options).split()[-1]) / 1024


class OtherHost:
    """A network namespace of its own, as a second host on this one; needs root."""

    def __init__(self, number):
        self.name = f"th-{os.getpid()}-{number}"
        here, self.address = (f"10.213.{number}.{end}" for end in (1, 2))
        ends = [f"th{os.getpid()}.{number}", f"th{os.getpid()}.{number}p"]
        run(["ip", "netns", "add", self.name])
        run(["ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1], "netns", self.name])
        run(["ip", "address", "add", f"{here}/30", "dev", ends[0]])
        run(["ip", "link", "set", ends[0], "up"])
        for command in (["address", "add", f"{self.address}/30", "dev", ends[1]], ["link", "set", ends[1], "up"],
                        ["link", "set", "lo", "up"]):
            run(["ip", "-n", self.name, *command])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "delete", self.name], check=False)


class Postgres:
    """A private server on a free port, in its own folder, on this host or another one; removed when the script ends."""

    def __init__(self, tls=False, host=None, **settings):
        self.host = host
        self.folder = tempfile.mkdtemp(prefix="triphammer-bench-")
        os.chmod(self.folder, 0o700)
        self.port = free_port()
        self.data = os.path.join(self.folder, "data")
        run(self.as_user([program("initdb"), "-D", self.data, "-U", "postgres", "-A", "trust",
                          "-E", "UTF8", "--no-locale", "--no-instructions"]))
        if tls:
            self.make_certificate()
            settings["ssl"] = "on"
        if host:
            with open(os.path.join(self.data, "pg_hba.conf"), "a", encoding="utf-8") as file:
                file.write("host all all samenet trust\n")
        settings = {"listen_addresses": self.address, "port": self.port,
                    "unix_socket_directories": self.folder, "shared_buffers": "1GB",
                    "max_wal_size": "8GB", "max_connections": 200, **settings}
        self.start(settings)

    def start(self, settings):
        """Starts the server of the data folder with these settings."""
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        # pg_ctl's server keeps the pipes of its parent open: give it files.
        there = ["ip", "netns", "exec", self.host.name] if self.host else []
        subprocess.run([*there, *self.as_user([program("pg_ctl"), "-D", self.data, "-w", "-l",
                                               os.path.join(self.folder, "log"), "-o", options, "start"])],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    @property
    def address(self):
        """Where it listens."""
        return self.host.address if self.host else "127.0.0.1"

    def make_certificate(self):
        """Creates the key and the certificate for a server with TLS."""
        key = os.path.join(self.data, "server.key")
        run(["openssl", "req", "-new", "-x509", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-keyout", key,
             "-out", os.path.join(self.data, "server.crt")])
        os.chmod(key, 0o600)

    as_user = staticmethod(as_user)

    def url(self, database, sslmode="disable"):
        """TCP, without TLS unless requested."""
        return f"postgres://postgres@{self.address}:{self.port}/{database}?sslmode={sslmode}"

    def psql(self, database, sql, **options):
        return run([program("psql"), "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-c", sql,
                    self.url(database)], **options)

    def fresh(self, database):
        """Creates an empty database, and a checkpoint so that no earlier work remains to be written."""
        self.psql("postgres", f"DROP DATABASE IF EXISTS {database}")
        self.psql("postgres", f"CREATE DATABASE {database}")
        self.psql("postgres", "CHECKPOINT")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(self.as_user([program("pg_ctl"), "-D", self.data, "-m", "immediate", "stop"]),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


class Standby(Postgres):
    """A hot standby of a private PostgreSQL server."""

    host = None

    def __init__(self, primary):  # pylint: disable=super-init-not-called
        self.folder = tempfile.mkdtemp(prefix="triphammer-bench-")
        os.chmod(self.folder, 0o700)
        self.port = free_port()
        self.data = os.path.join(self.folder, "data")
        run(self.as_user([program("pg_basebackup"), "-D", self.data, "-R", "-c", "fast", "-d",
                          primary.url("postgres")]))
        self.start({"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.folder,
                    "max_connections": 200})

    def file(self, primary, database):
        """A file for --nodes with the primary and this standby."""
        path = os.path.join(self.folder, "nodes.toml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f'[[node]]\nname = "primary"\ntarget = "{primary.url(database)}"\n\n'
                      f'[[node]]\nname = "standby"\ntarget = "{self.url(database)}"\n')
        return path


class Mariadb:
    """A private MariaDB server on a free port, in its own folder; removed when the script ends."""

    def __init__(self, **settings):
        self.folder = tempfile.mkdtemp(prefix="triphammer-bench-")
        self.port = free_port()
        data = os.path.join(self.folder, "data")
        for name in ("mariadbd", "mariadb-install-db", "mariadb"):
            if not shutil.which(name):
                sys.exit(f"{name} is not installed: apt-get install mariadb-server")
        run(as_user(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
             "--auth-root-authentication-method=normal", "--skip-name-resolve"]))
        settings = {"bind-address": "127.0.0.1", "port": self.port, "socket": os.path.join(self.folder, "s.sock"),
                    "local-infile": 1, "innodb-buffer-pool-size": "1G", "innodb-log-file-size": "1G",
                    "max-connections": 200, **settings}
        with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                as_user(["mariadbd", "--no-defaults", f"--datadir={data}", "--skip-name-resolve", "--skip-log-bin",
                         *[f"--{name}={value}" for name, value in settings.items()]]), stdout=log, stderr=log)
        while subprocess.run([*self.client(), "-e", "SELECT 1"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode:
            if self.process.poll() is not None:
                sys.exit(f"mariadbd ended at once; see {self.folder}/log")
            time.sleep(0.1)

    def client(self, database="mysql"):
        """The command of MariaDB's own client."""
        return ["mariadb", "--no-defaults", "--user=root", "--host=127.0.0.1", f"--port={self.port}",
                "--local-infile=1", "--batch", "--skip-column-names", database]

    def url(self, database):
        return f"mariadb://root@127.0.0.1:{self.port}/{database}"

    def sql(self, database, text):
        return run([*self.client(database), "-e", text])

    def fresh(self, database):
        """Creates an empty database."""
        self.sql("mysql", f"DROP DATABASE IF EXISTS {database}; "
                          f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Galera:
    """A cluster of private MariaDB nodes; each joins the first, and copies it."""

    def __init__(self, nodes=3, **settings):
        provider = next(iter(glob.glob("/usr/lib*/galera*/libgalera_smm.so")), None)
        if not provider:
            sys.exit("Galera is not installed: apt-get install galera-4 rsync")
        self.nodes, group = [], None
        for number in range(nodes):
            own = free_port()
            options = (f"base_host=127.0.0.1;base_port={own};gmcast.listen_addr=tcp://127.0.0.1:{own};"
                       f"ist.recv_addr=127.0.0.1:{free_port()};gcache.size=64M")
            node = Mariadb(**{
                "wsrep-on": "ON", "wsrep-provider": provider, "wsrep-provider-options": options,
                "wsrep-cluster-address": f"gcomm://127.0.0.1:{group}" if group else "gcomm://",
                "wsrep-node-name": f"n{number}", "wsrep-node-address": "127.0.0.1", "wsrep-sst-method": "rsync",
                "wsrep-sst-receive-address": f"127.0.0.1:{free_port()}", "binlog-format": "ROW",
                "innodb-autoinc-lock-mode": 2, "innodb-buffer-pool-size": "128M", "innodb-log-file-size": "128M",
                **settings})
            group = group or own
            self.nodes.append(node)
            while "ON" not in node.sql("mysql", "SHOW STATUS LIKE 'wsrep_ready'"):
                time.sleep(0.1)

    def file(self, database):
        """A file for --nodes."""
        path = os.path.join(self.nodes[0].folder, "nodes.toml")
        with open(path, "w", encoding="utf-8") as file:
            for number, node in enumerate(self.nodes):
                file.write(f'[[node]]\nname = "n{number}"\ntarget = "{node.url(database)}"\n')
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()


@contextlib.contextmanager
def memory_folder():
    """A folder in memory, where the system has one."""
    parent = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-", dir=parent) as folder:
        os.chmod(folder, 0o755)
        yield folder


def interleaved(rounds, **contenders):
    """Runs the contenders in turn, alternating which goes first, and returns the figures of each."""
    figures = {name: [] for name in contenders}
    for number in range(rounds):
        order = list(contenders) if number % 2 == 0 else list(contenders)[::-1]
        for name in order:
            figures[name].append(contenders[name]())
            print(f"  round {number + 1}: {name} {figures[name][-1]:.2f}", file=sys.stderr)
    return figures


def compare(title, unit, figures, ours, reference, limit=None):
    """Prints both medians and their ratio, and whether it is within the limit."""
    mine, theirs = (statistics.median(figures[name]) for name in (ours, reference))
    ratio = mine / theirs
    verdict = "" if limit is None else f"  (at most {limit}: {'met' if ratio <= limit else 'MISSED'})"
    print(f"{title}: {ours} {mine:.2f} {unit}, {reference} {theirs:.2f} {unit}, "
          f"ratio {ratio:.2f}{verdict}")
    return limit is None or ratio <= limit
