/* An ODBC driver without a database, for tests: it records what it is asked to run, and answers from a file.
 * Keys of its connection strings:
 *
 *     Log=FILE        each call is a line: `direct SQL`, `prepare SQL`, `execute SETS SQL`, `commit`, `rollback`,
 *                     `autocommit 0`, `isolation 2`; blanks are single
 *     Answers=FILE    lines of fields with tabs between them: a part of a statement, then the values of a row, `i:7`,
 *                     `t:text`, `n:1.50`, `s:2026-01-02 03:04:05`, `0:` for NULL, or `c:BASE:PART`, which is BASE and
 *                     the number of executions of statements with that part. A row with `u:PART` is returned until a
 *                     statement with that part is executed. The first line whose part occurs in a statement decides,
 *                     with the lines of the same part below it. Other statements return no rows.
 *     DBMS=NAME       the product
 *     Transactions=0  there are none
 *     Crash=CALL      ends by a signal in SQLDriverConnect, SQLExecDirect or SQLExecute
 *
 * The declarations are those of ODBC's headers, which need not be installed. Text is in the encoding of the locale. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef short Return;
typedef void *Handle;
enum { OK = 0, INFO = 1, ERROR = -1, NO_DATA = 100, COLUMNS = 64, ROWS = 32 };

struct connection {
    char log[1024], answers[1024], dbms[128], crash[64], error[256];
    int no_transactions;
};

struct statement {
    struct connection *on;
    char *sql;
    unsigned long sets, *processed;
    int columns, rows, row;
    char *values[ROWS][COLUMNS];
};

/* What was executed, for `c:` and `u:`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **executed;
static unsigned long executions;

static void record(struct connection *on, const char *what, const char *text) {
    if (!on->log[0])
        return;
    char *line = malloc(strlen(what) + strlen(text) + 3);
    int length = sprintf(line, "%s%s%s\n", what, text[0] ? " " : "", text);
    int file = open(on->log, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (file >= 0) {
        if (write(file, line, length) != length)
            abort();
        close(file);
    }
    free(line);
}

static void crash(struct connection *on, const char *call) {
    if (strcmp(on->crash, call) == 0) {
        volatile int *nowhere = NULL;
        *nowhere = 1;
    }
}

/* The value of a key of a connection string; braces around it are taken off. */
static void value_of(const char *string, const char *key, char *out, size_t room) {
    size_t length = strlen(key);
    for (const char *at = string; at; at = strchr(at, ';'), at = at ? at + 1 : NULL) {
        if (strncasecmp(at, key, length) || at[length] != '=')
            continue;
        at += length + 1;
        char end = *at == '{' ? '}' : ';';
        at += *at == '{';
        size_t many = 0;
        while (at[many] && at[many] != end && many < room - 1)
            many++;
        memcpy(out, at, many);
        out[many] = 0;
        return;
    }
}

Return SQLAllocHandle(short kind, Handle parent, Handle *out) {
    switch (kind) {
    case 1:
        *out = malloc(1);
        return OK;
    case 2:
        *out = calloc(1, sizeof(struct connection));
        return OK;
    case 3: {
        struct statement *made = calloc(1, sizeof *made);
        made->on = parent;
        made->sets = 1;
        *out = made;
        return OK;
    }
    }
    return ERROR;
}

static void forget(struct statement *st) {
    for (int row = 0; row < st->rows; row++)
        for (int column = 0; column < st->columns; column++)
            free(st->values[row][column]);
    st->rows = st->columns = st->row = 0;
}

Return SQLFreeHandle(short kind, Handle handle) {
    if (kind == 3) {
        forget(handle);
        free(((struct statement *)handle)->sql);
    }
    free(handle);
    return OK;
}

Return SQLSetEnvAttr(Handle env, int attribute, void *value, int length) {
    return OK;
}

Return SQLDriverConnect(Handle dbc, void *window, char *string, short length, char *out, short room, short *wrote,
                        unsigned short completion) {
    struct connection *on = dbc;
    char none[8] = "";
    char *text = length < 0 ? strdup(string) : strndup(string, length);
    value_of(text, "Log", on->log, sizeof on->log);
    value_of(text, "Answers", on->answers, sizeof on->answers);
    value_of(text, "DBMS", on->dbms, sizeof on->dbms);
    value_of(text, "Crash", on->crash, sizeof on->crash);
    value_of(text, "Transactions", none, sizeof none);
    on->no_transactions = none[0] == '0';
    free(text);
    crash(on, "SQLDriverConnect");
    record(on, "connect", "");
    return OK;
}

Return SQLDisconnect(Handle dbc) {
    return OK;
}

Return SQLSetConnectAttr(Handle dbc, int attribute, void *value, int length) {
    char text[32];
    sprintf(text, "%lu", (unsigned long)value);
    if (attribute == 102)
        record(dbc, "autocommit", text);
    if (attribute == 108)
        record(dbc, "isolation", text);
    return OK;
}

Return SQLGetConnectAttr(Handle dbc, int attribute, void *value, int room, int *length) {
    *(unsigned *)value = 0;
    return OK;
}

Return SQLGetInfo(Handle dbc, unsigned short which, void *value, short room, short *length) {
    struct connection *on = dbc;
    const char *text = NULL;
    unsigned number = 0;
    switch (which) {
    case 6: text = "recording.so"; break;   /* SQL_DRIVER_NAME */
    case 7: text = "01.00.0000"; break;     /* SQL_DRIVER_VER */
    case 77: text = "03.51"; break;         /* SQL_DRIVER_ODBC_VER */
    case 17: text = on->dbms; break;        /* SQL_DBMS_NAME */
    case 18: text = "00.00.0000"; break;    /* SQL_DBMS_VER */
    case 13: case 16: case 47: text = ""; break;
    case 46: number = on->no_transactions ? 0 : 2; break; /* SQL_TXN_CAPABLE */
    case 23: case 24: number = 2; break;    /* SQL_CURSOR_COMMIT_BEHAVIOR, …ROLLBACK…: kept */
    case 26: number = 2; break;             /* SQL_DEFAULT_TXN_ISOLATION */
    case 72: number = 2 | 8; break;         /* SQL_TXN_ISOLATION_OPTION */
    }
    if (!text) {
        if (which == 46 || which == 23 || which == 24)
            *(unsigned short *)value = number;
        else
            *(unsigned *)value = number;
        return OK;
    }
    if (value && room > 0)
        snprintf(value, room, "%s", text);
    if (length)
        *length = strlen(text);
    return OK;
}

Return SQLEndTran(short kind, Handle handle, short how) {
    if (kind == 2)
        record(handle, how ? "rollback" : "commit", "");
    return OK;
}

Return SQLSetStmtAttr(Handle handle, int attribute, void *value, int length) {
    struct statement *st = handle;
    if (attribute == 22)
        st->sets = (unsigned long)value;
    if (attribute == 21)
        st->processed = value;
    return OK;
}

/* Text with single blanks, without those at its ends. */
static char *squeezed(const char *text, int length) {
    size_t all = length < 0 ? strlen(text) : (size_t)length, to = 0;
    char *out = malloc(all + 1);
    for (size_t from = 0; from < all && text[from]; from++) {
        int is_blank = strchr(" \t\r\n", text[from]) != NULL;
        if (is_blank ? to && out[to - 1] != ' ' : 1)
            out[to++] = is_blank ? ' ' : text[from];
    }
    while (to && out[to - 1] == ' ')
        to--;
    out[to] = 0;
    return out;
}

/* How often statements with a part were executed. */
static unsigned long times(const char *part) {
    unsigned long count = 0;
    pthread_mutex_lock(&lock);
    for (unsigned long n = 0; n < executions; n++)
        count += strstr(executed[n], part) != NULL;
    pthread_mutex_unlock(&lock);
    return count;
}

/* A value of a row, with `c:` counted. */
static char *counted(const char *field) {
    char *end, *out;
    if (strncmp(field, "c:", 2))
        return strdup(field);
    unsigned long count = strtoul(field + 2, &end, 10);
    count += times(end + 1);
    out = malloc(32);
    sprintf(out, "i:%lu", count);
    return out;
}

/* Looks the answer to a statement up. */
static void answer(struct statement *st) {
    char *line = NULL, part[1024] = "";
    size_t room = 0;
    FILE *file = st->on->answers[0] ? fopen(st->on->answers, "r") : NULL;
    forget(st);
    while (file && st->rows < ROWS && getline(&line, &room, file) > 0) {
        char *rest = line, *field;
        line[strcspn(line, "\n")] = 0;
        field = strsep(&rest, "\t");
        if (part[0] ? strcmp(part, field) : !field[0] || !strstr(st->sql, field))
            continue;
        snprintf(part, sizeof part, "%s", field);
        int columns = 0, is_there = 1;
        while ((field = strsep(&rest, "\t")) && columns < COLUMNS) {
            if (strncmp(field, "u:", 2) == 0)
                is_there = times(field + 2) == 0;
            else
                st->values[st->rows][columns++] = counted(field);
        }
        st->columns = columns;
        while (!is_there && columns)
            free(st->values[st->rows][--columns]);
        st->rows += is_there;
    }
    free(line);
    if (file)
        fclose(file);
}

static void take(struct statement *st, const char *sql, int length) {
    free(st->sql);
    st->sql = squeezed(sql, length);
}

static Return executes(struct statement *st) {
    pthread_mutex_lock(&lock);
    executed = realloc(executed, (executions + 1) * sizeof *executed);
    executed[executions++] = strdup(st->sql);
    pthread_mutex_unlock(&lock);
    if (st->processed)
        *st->processed = st->sets;
    answer(st);
    return OK;
}

Return SQLExecDirect(Handle handle, char *sql, int length) {
    struct statement *st = handle;
    take(st, sql, length);
    record(st->on, "direct", st->sql);
    crash(st->on, "SQLExecDirect");
    return executes(st);
}

Return SQLPrepare(Handle handle, char *sql, int length) {
    struct statement *st = handle;
    take(st, sql, length);
    record(st->on, "prepare", st->sql);
    answer(st);
    return OK;
}

Return SQLExecute(Handle handle) {
    struct statement *st = handle;
    char what[40];
    sprintf(what, "execute %lu", st->sets);
    record(st->on, what, st->sql);
    crash(st->on, "SQLExecute");
    return executes(st);
}

Return SQLNumParams(Handle handle, short *count) {
    struct statement *st = handle;
    int is_text = 0;
    *count = 0;
    for (const char *at = st->sql; *at; at++) {
        is_text ^= *at == '\'';
        *count += !is_text && *at == '?';
    }
    return OK;
}

/* Oracle's driver has no integers of 64 bits, and describes all numbers as decimals. */
static int has_big_integers(struct statement *st) {
    return strcmp(st->on->dbms, "Oracle") != 0;
}

Return SQLBindParameter(Handle handle, unsigned short place, short direction, short c_type, short sql_type,
                        unsigned long size, short digits, void *values, long room, long *lengths) {
    return c_type == -25 && !has_big_integers(handle) ? ERROR : OK;
}

Return SQLRowCount(Handle handle, long *count) {
    struct statement *st = handle;
    *count = st->columns ? -1 : (long)st->sets;
    return OK;
}

Return SQLNumResultCols(Handle handle, short *count) {
    *count = ((struct statement *)handle)->columns;
    return OK;
}

Return SQLDescribeCol(Handle handle, unsigned short place, char *name, short room, short *wrote, short *type,
                      unsigned long *size, short *digits, short *nullable) {
    struct statement *st = handle;
    char kind = 't';
    for (int row = 0; row < st->rows; row++)
        if (st->values[row][place - 1][0] != '0')
            kind = st->values[row][place - 1][0];
    if (kind == 'i' && !has_big_integers(st))
        kind = 'n';
    *type = kind == 'i' ? -5 : kind == 'n' ? 3 : kind == 's' ? 93 : 12;
    *size = kind == 't' ? 4000 : 38;
    *digits = 0;
    *nullable = 1;
    if (name && room > 0)
        snprintf(name, room, "c%d", place);
    if (wrote)
        *wrote = place < 10 ? 2 : 3;
    return OK;
}

Return SQLBindCol(Handle handle, unsigned short place, short type, void *value, long room, long *length) {
    return OK;
}

Return SQLFetch(Handle handle) {
    struct statement *st = handle;
    return st->row++ < st->rows ? OK : NO_DATA;
}

Return SQLGetData(Handle handle, unsigned short place, short type, void *value, long room, long *length) {
    struct statement *st = handle;
    const char *field = st->values[st->row - 1][place - 1], *text = field + 2;
    if (field[0] == '0') {
        *length = -1;
    } else if (type == -25 && !has_big_integers(st)) {
        return ERROR;
    } else if (type == -25) {
        *(long *)value = atol(text);
        *length = 8;
    } else if (type == 93) {
        short *at = value;
        int part[6] = {0};
        sscanf(text, "%d-%d-%d %d:%d:%d", part, part + 1, part + 2, part + 3, part + 4, part + 5);
        for (int n = 0; n < 6; n++)
            at[n] = part[n];
        *(unsigned *)(at + 6) = 0;
        *length = 16;
    } else {
        snprintf(value, room, "%s", text);
        *length = strlen(text);
    }
    return OK;
}

Return SQLMoreResults(Handle handle) {
    return NO_DATA;
}

Return SQLFreeStmt(Handle handle, unsigned short what) {
    if (what == 0)
        ((struct statement *)handle)->row = 0;
    return OK;
}

Return SQLCancel(Handle handle) {
    return OK;
}

Return SQLTables(Handle handle, char *a, short an, char *b, short bn, char *c, short cn, char *d, short dn) {
    struct statement *st = handle;
    take(st, "SQLTables", -1);
    answer(st);
    return OK;
}

Return SQLGetDiagRec(short kind, Handle handle, short number, char *state, int *native, char *message, short room,
                     short *length) {
    return NO_DATA;
}

Return SQLGetDiagField(short kind, Handle handle, short number, short which, void *value, short room, short *length) {
    return NO_DATA;
}
