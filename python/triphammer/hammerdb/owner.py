"""The user of a schema on PostgreSQL, and its database: the superuser of the options creates both."""

from __future__ import annotations

from triphammer import _native


def create(given):
    """Creates what does not exist, as HammerDB's builds do; returns what happened, for people."""
    user, database = _identifier(given.user), _identifier(given.database)
    # A superuser of a cloud's service is none: it must belong to the role to give it a database.
    _native.execute(given.target_of_superuser(default=True), f"""DO {_QUOTE} BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {_literal(given.user)}) THEN
            CREATE ROLE {user} LOGIN PASSWORD {_literal(given.password)};
            IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
                GRANT {user} TO CURRENT_USER;
            END IF;
        END IF;
    END {_QUOTE}""", f"creating the user {given.user}")
    target = given.target_of_superuser()
    if _native.create_database(target):
        _native.execute(target, f"ALTER DATABASE {database} OWNER TO {user}", f"giving the database to {given.user}")
        return f"Created the database {given.database} of the user {given.user}"
    # Of a database that exists, the owner stays.
    _native.execute(target, f"""DO {_QUOTE} BEGIN
        IF NOT has_schema_privilege({_literal(given.user)}, 'public', 'CREATE') THEN
            GRANT USAGE, CREATE ON SCHEMA public TO {user};
        END IF;
    END {_QUOTE}""", f"granting rights to {given.user}")
    return f"The database {given.database} exists, and is used by the user {given.user}"


def statements(given):
    """The same as SQL for people, without the password."""
    user, database = _identifier(given.user), _identifier(given.database)
    return f"CREATE ROLE {user} LOGIN PASSWORD '…'; CREATE DATABASE {database} OWNER {user}"


#: Quotes the block; no option can contain it.
_QUOTE = "$triphammer$"


def _identifier(name):
    return '"' + _checked(name).replace('"', '""') + '"'


def _literal(text):
    return "'" + _checked(text).replace("'", "''") + "'"


def _checked(text):
    if _QUOTE in text:
        import triphammer

        raise triphammer.SettingError(f"an option cannot contain {_QUOTE}")
    return text
