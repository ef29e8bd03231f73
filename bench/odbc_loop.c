/* A bare loop by ODBC: selects accounts of tpc-b by a prepared statement, with bound buffers, for some seconds.
 * The floor of bench/odbc.py. The declarations are those of ODBC's headers, which need not be installed.
 *
 *     odbc_loop CONNECTION-STRING ACCOUNTS SECONDS      prints the number of selects
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void *Handle;
short SQLAllocHandle(short, Handle, Handle *);
short SQLSetEnvAttr(Handle, int, void *, int);
short SQLDriverConnect(Handle, void *, char *, short, char *, short, short *, unsigned short);
short SQLPrepare(Handle, char *, int);
short SQLBindParameter(Handle, unsigned short, short, short, short, unsigned long, short, void *, long, long *);
short SQLBindCol(Handle, unsigned short, short, void *, long, long *);
short SQLExecute(Handle);
short SQLFetch(Handle);
short SQLFreeStmt(Handle, unsigned short);
short SQLGetDiagRec(short, Handle, short, char *, int *, char *, short, short *);

enum { ENV = 1, DBC = 2, STMT = 3, NO_DATA = 100, SLONG = -16, INTEGER = 4, SBIGINT = -25 };

static void check(short code, short kind, Handle handle, const char *call) {
    if (code == 0 || code == 1)
        return;
    char state[6] = "", message[512] = "";
    int native;
    short length;
    SQLGetDiagRec(kind, handle, 1, state, &native, message, sizeof message, &length);
    fprintf(stderr, "%s: %s %s\n", call, state, message);
    exit(1);
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 4)
        return 2;
    unsigned accounts = atoi(arguments[2]), seed = 1;
    double end = now() + atof(arguments[3]);
    Handle env, dbc, statement;
    check(SQLAllocHandle(ENV, NULL, &env), ENV, env, "environment");
    check(SQLSetEnvAttr(env, 200, (void *)3, 0), ENV, env, "version");
    check(SQLAllocHandle(DBC, env, &dbc), DBC, dbc, "connection");
    check(SQLDriverConnect(dbc, NULL, arguments[1], strlen(arguments[1]), NULL, 0, NULL, 0), DBC, dbc, "connect");
    check(SQLAllocHandle(STMT, dbc, &statement), DBC, dbc, "statement");
    check(SQLPrepare(statement, "SELECT abalance FROM pgbench_accounts WHERE aid = ?", -3), STMT, statement, "prepare");
    int aid;
    long aid_length = 0, balance, balance_length;
    check(SQLBindParameter(statement, 1, 1, SLONG, INTEGER, 10, 0, &aid, 4, &aid_length), STMT, statement, "bind");
    check(SQLBindCol(statement, 1, SBIGINT, &balance, 8, &balance_length), STMT, statement, "column");
    unsigned long done = 0;
    while (done % 64 || now() < end) {
        seed = seed * 1664525 + 1013904223;
        aid = 1 + (seed >> 4) % accounts;
        check(SQLExecute(statement), STMT, statement, "execute");
        check(SQLFetch(statement), STMT, statement, "fetch");
        if (SQLFetch(statement) != NO_DATA)
            return 1;
        check(SQLFreeStmt(statement, 0), STMT, statement, "close");
        done++;
    }
    printf("%lu\n", done);
    return 0;
}
