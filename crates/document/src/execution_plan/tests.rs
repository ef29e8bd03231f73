//! Plans as servers describe them.

use super::*;

fn rows(texts: &[&str]) -> Rows {
    let mut rows = Rows::new();
    rows.reset(1);
    texts.iter().for_each(|text| rows.text(text));
    rows
}

fn lines(operations: &[PlanOperation]) -> Vec<String> {
    operations.iter().map(PlanOperation::line).collect()
}

fn plan(format: PlanFormat, text: &str) -> ExecutionPlan {
    ExecutionPlan::new("q1", read(format, &rows(&[text])).unwrap())
}

/// A scan in PostgreSQL's JSON, with this table, condition and cost.
fn scan(table: &str, condition: &str, cost: &str) -> String {
    format!(
        r#"[{{"Plan": {{"Node Type": "Aggregate", "Strategy": "Sorted", "Partial Mode": "Finalize",
          "Total Cost": {cost}, "Plan Rows": 6, "Group Key": ["a", "b"], "Plans": [
            {{"Node Type": "Hash Join", "Join Type": "Left", "Parallel Aware": true,
              "Hash Cond": "(x = y)", "Actual Rows": 7, "Plans": [
                {{"Node Type": "Index Scan", "Scan Direction": "Backward", "Index Name": "i",
                  "Relation Name": "{table}", "Alias": "t1", "Filter": "({condition})"}},
                {{"Node Type": "Seq Scan", "Relation Name": "t2", "Alias": "t2",
                  "Parent Relationship": "SubPlan", "Subplan Name": "SubPlan 1"}}]}}]}},
          "Planning Time": 1.5}}]"#
    )
}

#[test]
fn postgresql_plans_read_as_in_its_text_format() {
    let one = plan(PlanFormat::PostgresJson, &scan("t", "d < '1995-01-01'::date", "35.5"));
    let expected = [
        "Finalize GroupAggregate; Group Key: a, b  (rows 6, cost 35.5)",
        "  Parallel Hash Left Join; Hash Cond: (x = y)  (actual rows 7)",
        "    Index Scan Backward using i on t t1; Filter: (d < ?::date)",
        "    SubPlan ?: Seq Scan on t2",
    ];
    assert_eq!(lines(&one.operations), expected);
    let same = plan(PlanFormat::PostgresJson, &scan("t", "d < '1997-07-01'::date", "99"));
    assert_eq!(one.fingerprint, same.fingerprint);
    for (table, condition) in [("u", "d < '1995-01-01'::date"), ("t", "d > '1995-01-01'::date")] {
        let other = plan(PlanFormat::PostgresJson, &scan(table, condition, "35.5"));
        assert_ne!(one.fingerprint, other.fingerprint);
    }
    assert_eq!((one.short().len(), one.fingerprint.len()), (8, 16));
}

/// A join with some partitions of a table, from this one on.
fn partitions(first: usize, count: usize) -> String {
    let scan = |month: usize| {
        format!(
            r#"{{"Node Type": "Seq Scan", "Relation Name": "l_1995_{month:02}", "Alias": "l_{month}",
                "Filter": "(l_{month}.l_shipdate < '1995-0{month}-17'::date)", "Plan Rows": {month}}}"#
        )
    };
    let scans: Vec<String> = (first..first + count).map(scan).collect();
    format!(r#"[{{"Plan": {{"Node Type": "Append", "Plans": [{}]}}}}]"#, scans.join(", "))
}

#[test]
fn equal_scans_of_partitions_are_one_operation() {
    let three = plan(PlanFormat::PostgresJson, &partitions(2, 3));
    let expected = [
        "Append  (inputs 3)",
        "  Seq Scan on l_* l_*; Filter: (l_*.l_shipdate < ?::date)  (rows 2)",
    ];
    assert_eq!(lines(&three.operations), expected);
    let others = plan(PlanFormat::PostgresJson, &partitions(4, 5));
    assert_eq!(three.fingerprint, others.fingerprint);
    let differing = partitions(2, 3).replacen("Seq Scan", "Index Scan", 1);
    let differing = plan(PlanFormat::PostgresJson, &differing);
    assert_eq!(differing.operations.len(), 3);
    assert_ne!(three.fingerprint, differing.fingerprint);
}

#[test]
fn the_depth_of_an_operation_is_part_of_the_plan() {
    let tree = |text: &str| plan(PlanFormat::MysqlTree, text).fingerprint;
    assert_ne!(tree("-> A\n    -> B\n    -> C"), tree("-> A\n    -> B\n        -> C"));
}

#[test]
fn mysql_plans_are_trees_of_lines() {
    let text = "-> Limit: 10 row(s)  (cost=2.5 rows=1)\n    \
                -> Filter: (orders.o_orderdate < DATE'1995-03-15')  (cost=1.25 rows=100) \
                (actual time=0.1..2.5 rows=4 loops=1)\n        \
                -> Index lookup on l using PRIMARY (l_orderkey=orders.o_orderkey)  (never executed)\n";
    let expected = [
        "Limit: ? row(s)  (cost=2.5 rows=1)",
        "  Filter: (orders.o_orderdate < DATE?)  \
         (cost=1.25 rows=100, actual time=0.1..2.5 rows=4 loops=1)",
        "    Index lookup on l using PRIMARY (l_orderkey=orders.o_orderkey)  (never executed)",
    ];
    assert_eq!(lines(&plan(PlanFormat::MysqlTree, text).operations), expected);
}

#[test]
fn mariadb_plans_are_objects_in_objects() {
    let text = r#"{"query_block": {"select_id": 1, "cost": 0.5, "filesort": {
        "sort_key": "sum(x) desc", "temporary_table": {"nested_loop": [
            {"table": {"table_name": "orders", "access_type": "range", "key": "PRIMARY",
                "possible_keys": ["PRIMARY", "o"], "used_key_parts": ["a", "b"], "rows": 7, "filtered": 50,
                "attached_condition": "orders.o_orderdate < '1995-01-01'"}},
            {"block-nl-join": {"table": {"table_name": "l", "access_type": "ref",
                "ref": ["tpch.orders.o_orderkey", "const"]}, "buffer_type": "flat"}}]}}}}"#;
    let expected = [
        "query_block  (cost 0.5)",
        "  filesort; sort_key: sum(x) desc",
        "    temporary_table",
        "      nested_loop",
        "        table orders; access_type: range; key: PRIMARY; used_key_parts: a, b; \
         attached_condition: orders.o_orderdate < ?  (rows 7, filtered 50)",
        "        block-nl-join; buffer_type: flat",
        "          table l; access_type: ref; ref: orders.o_orderkey, const",
    ];
    assert_eq!(lines(&plan(PlanFormat::MariadbJson, text).operations), expected);
}

#[test]
fn trino_plans_are_nodes_with_descriptors() {
    let scan = |date: &str| {
        format!(
            r#"{{"id": "9", "name": "Output", "descriptor": {{"columnNames": "[n, _col1]"}}, "details": ["_col1 := count"],
              "estimates": [{{"outputRowCount": 10.0, "cpuCost": 0.0}}], "children": [
                {{"name": "Aggregate", "descriptor": {{"type": "FINAL", "keys": "[n]", "hash": "[]"}},
                  "estimates": [{{"outputRowCount": "NaN"}}], "children": [
                    {{"name": "ScanFilter", "descriptor": {{"table": "tpch:tiny:lineitem",
                      "filterPredicate": "(l_shipdate <= date '{date}')", "dynamicFilters": "{{k = #df_7}}"}},
                      "estimates": [], "children": []}}]}}]}}"#
        )
    };
    let one = plan(PlanFormat::TrinoJson, &scan("1998-09-02"));
    let expected = [
        "Output; columnNames: [n, _col1]  (rows 10)",
        "  Aggregate; type: FINAL; keys: [n]",
        "    ScanFilter; table: tpch:tiny:lineitem; filterPredicate: (l_shipdate <= date ?)",
    ];
    assert_eq!(lines(&one.operations), expected);
    assert_eq!(one.fingerprint, plan(PlanFormat::TrinoJson, &scan("1998-08-11")).fingerprint);
}

#[test]
fn duckdb_measures_in_two_forms() {
    let before = r#"{"latency": 0.5, "extra_info": {}, "children": [
        {"operator_name": "SEQ_SCAN", "operator_type": "TABLE_SCAN", "operator_cardinality": 7,
         "operator_timing": 0.25, "children": [],
         "extra_info": {"Table": "t", "Estimated Cardinality": "9"}}]}"#;
    let since = r#"{"io": {"total_bytes_read": 0}, "operator": [
        {"type": "TABLE_SCAN", "intermediate_rows": 7, "timing": 0.25, "rows_scanned": 8,
         "extra_info": {"Table": "t", "Estimated Cardinality": "9"}}],
        "optimizer": {"total_time": 0.1}, "query": {"total_time": 0.5}}"#;
    for (text, name) in [(before, "SEQ_SCAN"), (since, "TABLE_SCAN")] {
        let mut explained = Rows::new();
        explained.reset(2);
        explained.text("analyzed_plan");
        explained.text(text);
        let operations = read(PlanFormat::DuckdbJson, &explained).unwrap();
        assert_eq!(operations.len(), 1, "{operations:?}");
        assert_eq!(operations[0].operation, format!("{name}; Table: t"));
        let figures = "rows 9, actual rows 7, s 0.25";
        assert_eq!(operations[0].figures, figures, "{operations:?}");
    }
}

#[test]
fn sqlite_plans_are_rows_with_parents() {
    let mut rows = Rows::new();
    rows.reset(4);
    for (id, parent, detail) in [
        (3, 0, "SCAN part"),
        (9, 0, "CORRELATED SCALAR SUBQUERY 1"),
        (11, 9, "SEARCH l USING INDEX i"),
    ] {
        rows.int(id);
        rows.int(parent);
        rows.int(0);
        rows.text(detail);
    }
    let operations = read(PlanFormat::SqliteRows, &rows).unwrap();
    let expected = ["SCAN part", "CORRELATED SCALAR SUBQUERY ?", "  SEARCH l USING INDEX i"];
    assert_eq!(lines(&operations), expected);
}

#[test]
fn what_is_no_plan_is_an_error() {
    for (format, text, why) in [
        (PlanFormat::PostgresJson, "Seq Scan on t", "not JSON"),
        (PlanFormat::PostgresJson, "[]", "has no plan"),
        (PlanFormat::MariadbJson, "{}", "empty plan"),
        (PlanFormat::MysqlTree, "", "empty plan"),
        (PlanFormat::TrinoJson, "{}", "empty plan"),
    ] {
        let error = read(format, &rows(&[text])).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    assert!(read(PlanFormat::SqliteRows, &rows(&["x"])).is_err());
}

#[test]
fn several_plans_have_one_fingerprint() {
    let plan = |query: &str, text: &str| ExecutionPlan {
        query: query.to_owned(),
        ..plan(PlanFormat::MysqlTree, text)
    };
    let all = |plans: &[ExecutionPlan]| fingerprint_of_all(plans);
    let (a, b) = (plan("q1", "-> A"), plan("q2", "-> B"));
    assert_eq!(all(&[]), None);
    assert_eq!(all(&[a.clone(), b.clone()]), all(&[a.clone(), b.clone()]));
    assert_ne!(all(&[a.clone(), b]), all(&[a.clone(), plan("q2", "-> A")]));
    assert_ne!(all(std::slice::from_ref(&a)), all(&[plan("q2", "-> A")]));
}
