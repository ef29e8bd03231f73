"""Options of HammerDB as settings of the program."""

from __future__ import annotations

import os
from urllib.parse import quote

import triphammer

from . import options

#: Names of the databases in URLs.
_SCHEMES = {"pg": "postgres", "mysql": "mysql", "maria": "mariadb"}
_WORKLOADS = {"tpcc": "tproc-c", "tpch": "tproc-h"}


class Options:
    """The options of a database for a workload, by their names without the database's prefix."""

    def __init__(self, prefix, dictionaries, benchmark):
        self.prefix, self.benchmark = prefix, benchmark
        self._connection, self._own = dict(dictionaries["connection"]), dict(dictionaries[benchmark])

    def __getitem__(self, name):
        key = f"{self.prefix}_{name}"
        return self._own.get(key, self._connection.get(key))

    def is_on(self, name):
        """Whether a switch is on."""
        return str(self[name]).lower() in ("true", "1")

    def _of_workload(self, name):
        """An option whose name contains the workload's for TPROC-H."""
        return self[name if self.benchmark == "tpcc" else f"tpch_{name}"]

    @property
    def user(self):
        """The user who builds and runs."""
        return self._of_workload("user")

    @property
    def password(self):
        """Its password."""
        return self._of_workload("pass")

    @property
    def database(self):
        """Name of the database with the schema."""
        return self._of_workload("dbase").strip()

    @property
    def superuser(self):
        """The user who creates the other one and its database; ``None`` if there is only one."""
        superuser = self._of_workload("superuser") if self.prefix == "pg" else None
        return None if superuser == self.user else superuser

    def target(self, with_password=True):
        """The URL of the database, with the user who builds and runs."""
        return self._url(self.user, self.password if with_password else None, self.database)

    def target_of_superuser(self, default=False):
        """The same with the superuser, or its default database."""
        database = self._of_workload("defaultdbase").strip() if default else self.database
        return self._url(self.superuser, self._of_workload("superuserpass"), database)

    def _url(self, user, password, database):
        who = quote(user, safe="")
        if password and password != "null":
            who += ":" + quote(password, safe="")
        url = f"{_SCHEMES[self.prefix]}://{who}@{_host(self['host'])}:{self['port']}/{quote(database, safe='')}"
        return url + ("?" + self._parameter() if self._parameter() else "")

    def _parameter(self):
        """How the server is reached, if the URL does not say that: TLS, or a socket of this host."""
        if self.prefix == "pg":
            return f"sslmode={self['sslmode']}"
        if self["host"] in ("localhost", "127.0.0.1") and os.path.exists(self["socket"]):
            return f"socket={quote(self['socket'], safe='/')}"
        if not self.is_on("ssl"):
            return "ssl-mode=preferred"
        return "&".join(f"{name}={quote(value, safe='/')}" for name, value in self._tls().items())

    def _tls(self):
        """TLS as the script asks for it. HammerDB connects without TLS if it cannot read a file; here that is an error."""
        def path(name):
            return os.path.join(self["ssl_linux_capath"], self[name])

        usual = options.of_database(self.prefix)["connection"]
        names_ca = any(self[name] != usual[f"{self.prefix}_{name}"] for name in ("ssl_linux_capath", "ssl_ca"))
        found = {"ssl-ca": path("ssl_ca")} if names_ca or os.path.exists(path("ssl_ca")) else {"ssl-mode": "REQUIRED"}
        if self.is_on("ssl_two_way"):
            found.update({"ssl-cert": path("ssl_cert"), "ssl-key": path("ssl_key")})
        return found

    def build(self):
        """The settings of a build."""
        settings = {"workload": _WORKLOADS[self.benchmark], "create_database": self.superuser is None or None}
        if self.benchmark == "tpch":
            return {**settings, "scale": self["scale_fact"], "jobs": self["num_tpch_threads"]}
        warehouses = number("count_ware", self["count_ware"])
        settings.update(scale=self["count_ware"], jobs=min(number("num_vu", self["num_vu"]), warehouses))
        if self.prefix != "pg":
            settings["storage_engine"] = self["storage_engine"]
            settings["history_key"] = self.is_on("history_pk") or None
            settings["partitions"] = self["count_ware"] if self.is_on("partition") and warehouses > 1 else None
        return settings

    def run(self, users):
        """The settings of a run with this number of virtual users."""
        settings = {"workload": _WORKLOADS[self.benchmark]}
        if self.benchmark == "tpch":
            return {**settings, **self._queries(users)}
        settings.update(vus=users, rampup=minutes("rampup", self["rampup"]),
                        duration=minutes("duration", self["duration"]),
                        all_warehouses=self.is_on("allwarehouse") or None)
        if self["driver"] == "test":
            settings.update(rampup=None, duration=None, transactions=self["total_iterations"])
        if self.prefix != "pg" and self.is_on("no_stored_procs"):
            settings["mode"] = "statements"
        if self.is_on("keyandthink"):
            # Each asynchronous client is a terminal with a session of its own, as in HammerDB.
            sessions = users * self.clients()
            settings.update(load="keyed", terminals=sessions, sessions=sessions, vus=None)
            if self.clients() > 1:
                settings["login_delay"] = self._login_delay(users)
        return settings

    def clients(self):
        """Asynchronous clients of each virtual user."""
        is_async = self.is_on("async_scale") and self.is_on("keyandthink")
        return number("async_client", self["async_client"]) if is_async else 1

    def _login_delay(self, users):
        """Time between two logins of all clients: each virtual user logs in one client after the other."""
        delay = self["async_delay"]
        if not delay.isdecimal():
            raise triphammer.Error(f"async_delay must be a number of milliseconds, not {delay}")
        return f"{int(delay) * 1_000 // users}us"

    def _queries(self, users):
        sets = number("total_querysets", self["total_querysets"])
        repeat = {"repeat": sets} if sets > 1 else {}
        if users == 1:
            return {"test": "power" if self.is_on("refresh_on") else "queries", **repeat}
        return {"test": "throughput" if self.is_on("refresh_on") else "queries", "streams": users, **repeat}


def _host(host):
    """A host in a URL: names, addresses, or the folder of a socket, as libpq takes them."""
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return quote(host, safe="[]:,")


def number(name, text):
    """A number from 1."""
    if not text.isdecimal() or int(text) == 0:
        raise triphammer.Error(f"{name} must be a number from 1, not {text}")
    return int(text)


def minutes(name, text):
    """Minutes as a duration; fractions are allowed, for short tests."""
    try:
        milliseconds = round(float(text) * 60_000)
    except (ValueError, OverflowError):
        milliseconds = -1
    if milliseconds < 0:
        raise triphammer.Error(f"{name} must be a number of minutes, not {text}")
    return f"{milliseconds}ms" if milliseconds % 60_000 else f"{milliseconds // 60_000}m"
