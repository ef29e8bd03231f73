"""The options of HammerDB 6.0 that its scripts set, by database and dictionary, with their defaults."""

from __future__ import annotations

#: Names of the databases that HammerDB has.
NAMES = {"pg": "PostgreSQL", "mysql": "MySQL", "maria": "MariaDB", "mssqls": "MSSQLServer", "ora": "Oracle", "db2": "Db2"}

_DRIVER = """total_iterations=10000000 raiseerror=false keyandthink=false driver=timed rampup=2 duration=5
    allwarehouse=false timeprofile=false async_scale=false async_client=10 async_verbose=false async_delay=1000
    connect_pool=false"""
_QUERIES = """total_querysets=1 raise_query_error=false verbose=false refresh_on=false update_sets=1
    trickle_refresh=1000 refresh_verbose=false cloud_query=false"""
_MYSQL_TLS = """ssl=false ssl_two_way=false ssl_linux_capath=/etc/mysql/certs ssl_windows_capath=C:\\mysql\\certs
    ssl_ca=ca-cert.pem ssl_cert=client-cert.pem ssl_key=client-key.pem ssl_cipher=server"""
_MYSQL_BUILD = """count_ware=1 num_vu=1 user=root dbase=tpcc storage_engine=innodb partition=false prepared=false
    history_pk=false no_stored_procs=false"""
_MYSQL_QUERIES = "scale_fact=1 tpch_user=root tpch_dbase=tpch num_tpch_threads=1 tpch_storage_engine=innodb"

#: Options without their prefix, by database and dictionary.
_OPTIONS = {
    "pg": {
        "connection": "host=localhost port=5432 sslmode=prefer",
        "tpcc": f"""count_ware=1 num_vu=1 superuser=postgres superuserpass=postgres defaultdbase=postgres user=tpcc
            pass=tpcc dbase=tpcc tspace=pg_default vacuum=false dritasnap=false oracompat=false cituscompat=false
            storedprocs=false partition=false {_DRIVER}""",
        "tpch": f"""scale_fact=1 tpch_superuser=postgres tpch_superuserpass=postgres tpch_defaultdbase=postgres
            tpch_user=tpch tpch_pass=tpch tpch_dbase=tpch tpch_tspace=pg_default tpch_gpcompat=false
            tpch_gpcompress=false num_tpch_threads=1 degree_of_parallel=2 rs_compat=false {_QUERIES}""",
    },
    "mysql": {
        "connection": f"host=127.0.0.1 port=3306 socket=/tmp/mysql.sock oceanbase_port=2881 {_MYSQL_TLS}",
        "tpcc": f"{_MYSQL_BUILD} pass=mysql {_DRIVER}",
        "tpch": f"""{_MYSQL_QUERIES} tpch_pass=mysql ob_tenant_name=tpch tpch_obcompat=false ob_partition_num=1
            {_QUERIES}""",
    },
    "maria": {
        "connection": f"host=127.0.0.1 port=3306 socket=/tmp/mariadb.sock {_MYSQL_TLS}",
        "tpcc": f"{_MYSQL_BUILD} pass=maria purge=false {_DRIVER}",
        "tpch": f"{_MYSQL_QUERIES} tpch_pass=maria {_QUERIES}",
    },
}

#: Options that change nothing here, without their prefix, by dictionary: what to know or to use instead.
_WITHOUT_EFFECT = {
    "tpcc": {
        "async_verbose": "the connections of clients are not printed one by one",
        "cituscompat": "tables are not distributed",
        "connect_pool": "use `triphammer run --nodes`, which reads the pools of HammerDB",
        "dritasnap": "waits are part of every run: see `triphammer why`",
        "oracompat": "the functions are those of PostgreSQL",
        "prepared": "statements are prepared in any case",
        "purge": "use a hook: `triphammer matrix --restore`",
        "raiseerror": "errors are counted and reported in any case",
        "tspace": "the schema uses the default tablespace of its user",
        "vacuum": "use a hook: `triphammer matrix --restore`",
    },
    "tpch": {
        "cloud_query": "the 22 queries are those of the specification",
        "degree_of_parallel": "use `triphammer run --dop`",
        "raise_query_error": "errors are reported in any case",
        "refresh_verbose": "refresh functions are part of the report",
        "tpch_gpcompat": "tables are not distributed", "tpch_gpcompress": "tables are not compressed",
        "tpch_obcompat": "OceanBase is not supported", "ob_partition_num": "OceanBase is not supported",
        "ob_tenant_name": "OceanBase is not supported", "rs_compat": "Redshift is not supported",
        "tpch_tspace": "the schema uses the default tablespace of its user",
        "trickle_refresh": "refresh functions run without pauses",
        "update_sets": "a throughput test has one refresh set per stream",
        "verbose": "queries are part of the report",
    },
    "connection": {"oceanbase_port": "OceanBase is not supported", "ssl_cipher": "the ciphers are those of TLS 1.2 and 1.3",
                   "ssl_windows_capath": "files are those of `ssl_linux_capath`"},
}
#: Options of one database only that change nothing.
_WITHOUT_EFFECT_OF = {("pg", "partition"): "order_line is not partitioned on PostgreSQL by this option"}

_GENERIC = {
    "benchmark": "rdbms=Oracle bm=TPC-C first_result=NOPM",
    "virtual_user_options": """virtual_users=1 user_delay=500 repeat_delay=500 iterations=1 show_output=1 log_to_temp=0
        unique_log_name=0 no_log_buffer=0 log_timestamps=0""",
    "transaction_counter": "tc_refresh_rate=10 tc_log_to_temp=0 tc_unique_log_name=0 tc_log_timestamps=0",
    "metrics": "agent_hostname=localhost agent_id=10000",
    "datageneration": "gen_count_ware=1 gen_scale_fact=1 gen_num_vu=1 gen_directory=",
    "commandline": "sqlite_db=TMP keepalive_margin=60 jobsoutput=JSON jobs_disable=0 jobs_profile_id=0",
    "timeprofile": "profiler=xtprof xt_unique_log_name=0 xt_gather_timeout=60 xt_job_storage=1 xt_reservoir=10000",
}


def _read(text, prefix=""):
    return {prefix + key: value for key, _, value in (one.partition("=") for one in text.split())}


def of_database(prefix):
    """The dictionaries of a database: ``connection``, ``tpcc`` and ``tpch``, with all keys and their defaults."""
    return {name: _read(text, prefix + "_") for name, text in _OPTIONS[prefix].items()}


def without_effect(prefix, dictionary, key):
    """Why an option changes nothing here; ``None`` if it has an effect."""
    name = key[len(prefix) + 1:] if key.startswith(prefix + "_") else key
    return _WITHOUT_EFFECT.get(dictionary, {}).get(name) or _WITHOUT_EFFECT_OF.get((prefix, name))


def generic():
    """The dictionaries that all databases share."""
    return {name: _read(text) for name, text in _GENERIC.items()}
