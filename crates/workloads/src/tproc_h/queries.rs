//! The 22 queries of clause 2.4: their parameters with the values of the validation (2.4.n.4) and the columns of their
//! answers. Their texts are in `sql/base/tproc-h/queries.sql`.

use triphammer_core::sql::{StatementDef, param, statement};
use triphammer_core::value::ColumnType::{self, Decimal, Int, Text};
use triphammer_core::value::{Date, Value};
use triphammer_core::workload::AnswerRule::{self, Cents, Count, Day, Ratio, Sum, Words};

/// A query.
pub struct Query {
    /// Its number in the specification.
    pub number: u8,
    /// Its name there.
    pub title: &'static str,
    /// Its parameters: name, type, value of the validation.
    pub params: &'static [(&'static str, ColumnType, Value<'static>)],
    /// The columns of its answer, and how each is compared (clause 2.1.3.5).
    pub columns: &'static [(&'static str, AnswerRule)],
}

impl Query {
    /// Name of its statement: `q7`.
    pub fn statement(&self) -> String {
        format!("q{}", self.number)
    }

    /// What it needs in every catalogue.
    pub fn definition(&self) -> StatementDef {
        let params: Vec<_> =
            self.params.iter().map(|(name, column_type, _)| param(name, *column_type)).collect();
        StatementDef { name: self.statement().into(), ..statement("", &params) }
    }
}

const DATE: ColumnType = ColumnType::Date;

const fn text(text: &'static str) -> Value<'static> {
    Value::Text(text)
}

/// The first day of a month, or another day of it.
pub(super) const fn day(year: i32, month: i32, day: i32) -> Value<'static> {
    // Years begin in March, so that a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Value::Date(Date(365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468))
}

/// All queries, in the order of their numbers.
pub static QUERIES: [Query; 22] = [
    Query {
        number: 1,
        title: "pricing summary report",
        params: &[("until", DATE, day(1998, 9, 2))],
        columns: &[
            ("l_returnflag", Words),
            ("l_linestatus", Words),
            ("sum_qty", Sum),
            ("sum_base_price", Sum),
            ("sum_disc_price", Sum),
            ("sum_charge", Sum),
            ("avg_qty", Ratio),
            ("avg_price", Ratio),
            ("avg_disc", Ratio),
            ("count_order", Count),
        ],
    },
    Query {
        number: 2,
        title: "minimum cost supplier",
        params: &[
            ("size", Int, Value::Int(15)),
            ("type", Text, text("%BRASS")),
            ("region", Text, text("EUROPE")),
        ],
        columns: &[
            ("s_acctbal", Cents),
            ("s_name", Words),
            ("n_name", Words),
            ("p_partkey", Count),
            ("p_mfgr", Words),
            ("s_address", Words),
            ("s_phone", Words),
            ("s_comment", Words),
        ],
    },
    Query {
        number: 3,
        title: "shipping priority",
        params: &[("segment", Text, text("BUILDING")), ("date", DATE, day(1995, 3, 15))],
        columns: &[
            ("l_orderkey", Count),
            ("revenue", Sum),
            ("o_orderdate", Day),
            ("o_shippriority", Count),
        ],
    },
    Query {
        number: 4,
        title: "order priority checking",
        params: &[("from_date", DATE, day(1993, 7, 1)), ("to_date", DATE, day(1993, 10, 1))],
        columns: &[("o_orderpriority", Words), ("order_count", Count)],
    },
    Query {
        number: 5,
        title: "local supplier volume",
        params: &[
            ("region", Text, text("ASIA")),
            ("from_date", DATE, day(1994, 1, 1)),
            ("to_date", DATE, day(1995, 1, 1)),
        ],
        columns: &[("n_name", Words), ("revenue", Sum)],
    },
    Query {
        number: 6,
        title: "forecasting revenue change",
        params: &[
            ("from_date", DATE, day(1994, 1, 1)),
            ("to_date", DATE, day(1995, 1, 1)),
            ("discount_low", Decimal(2), Value::cents(5)),
            ("discount_high", Decimal(2), Value::cents(7)),
            ("quantity", Int, Value::Int(24)),
        ],
        columns: &[("revenue", Sum)],
    },
    Query {
        number: 7,
        title: "volume shipping",
        params: &[("nation1", Text, text("FRANCE")), ("nation2", Text, text("GERMANY"))],
        columns: &[
            ("supp_nation", Words),
            ("cust_nation", Words),
            ("l_year", Count),
            ("revenue", Sum),
        ],
    },
    Query {
        number: 8,
        title: "national market share",
        params: &[
            ("nation", Text, text("BRAZIL")),
            ("region", Text, text("AMERICA")),
            ("type", Text, text("ECONOMY ANODIZED STEEL")),
        ],
        columns: &[("o_year", Count), ("mkt_share", Ratio)],
    },
    Query {
        number: 9,
        title: "product type profit measure",
        params: &[("name", Text, text("%green%"))],
        columns: &[("nation", Words), ("o_year", Count), ("sum_profit", Sum)],
    },
    Query {
        number: 10,
        title: "returned item reporting",
        params: &[("from_date", DATE, day(1993, 10, 1)), ("to_date", DATE, day(1994, 1, 1))],
        columns: &[
            ("c_custkey", Count),
            ("c_name", Words),
            ("revenue", Sum),
            ("c_acctbal", Cents),
            ("n_name", Words),
            ("c_address", Words),
            ("c_phone", Words),
            ("c_comment", Words),
        ],
    },
    Query {
        number: 11,
        title: "important stock identification",
        params: &[
            ("nation", Text, text("GERMANY")),
            ("fraction", Decimal(10), Value::Decimal { units: 1_000_000, scale: 10 }),
        ],
        columns: &[("ps_partkey", Count), ("value", Sum)],
    },
    Query {
        number: 12,
        title: "shipping modes and order priority",
        params: &[
            ("mode1", Text, text("MAIL")),
            ("mode2", Text, text("SHIP")),
            ("from_date", DATE, day(1994, 1, 1)),
            ("to_date", DATE, day(1995, 1, 1)),
        ],
        columns: &[("l_shipmode", Words), ("high_line_count", Count), ("low_line_count", Count)],
    },
    Query {
        number: 13,
        title: "customer distribution",
        params: &[("words", Text, text("%special%requests%"))],
        columns: &[("c_count", Count), ("custdist", Count)],
    },
    Query {
        number: 14,
        title: "promotion effect",
        params: &[("from_date", DATE, day(1995, 9, 1)), ("to_date", DATE, day(1995, 10, 1))],
        columns: &[("promo_revenue", Ratio)],
    },
    Query {
        number: 15,
        title: "top supplier",
        params: &[("from_date", DATE, day(1996, 1, 1)), ("to_date", DATE, day(1996, 4, 1))],
        columns: &[
            ("s_suppkey", Count),
            ("s_name", Words),
            ("s_address", Words),
            ("s_phone", Words),
            ("total_revenue", Sum),
        ],
    },
    Query {
        number: 16,
        title: "parts/supplier relationship",
        params: &[
            ("brand", Text, text("Brand#45")),
            ("type", Text, text("MEDIUM POLISHED%")),
            ("size1", Int, Value::Int(49)),
            ("size2", Int, Value::Int(14)),
            ("size3", Int, Value::Int(23)),
            ("size4", Int, Value::Int(45)),
            ("size5", Int, Value::Int(19)),
            ("size6", Int, Value::Int(3)),
            ("size7", Int, Value::Int(36)),
            ("size8", Int, Value::Int(9)),
        ],
        columns: &[
            ("p_brand", Words),
            ("p_type", Words),
            ("p_size", Count),
            ("supplier_cnt", Count),
        ],
    },
    Query {
        number: 17,
        title: "small-quantity-order revenue",
        params: &[("brand", Text, text("Brand#23")), ("container", Text, text("MED BOX"))],
        columns: &[("avg_yearly", Ratio)],
    },
    Query {
        number: 18,
        title: "large volume customer",
        params: &[("quantity", Int, Value::Int(300))],
        columns: &[
            ("c_name", Words),
            ("c_custkey", Count),
            ("o_orderkey", Count),
            ("o_orderdate", Day),
            ("o_totalprice", Cents),
            ("quantity", Sum),
        ],
    },
    Query {
        number: 19,
        title: "discounted revenue",
        params: &[
            ("brand1", Text, text("Brand#12")),
            ("quantity1", Int, Value::Int(1)),
            ("brand2", Text, text("Brand#23")),
            ("quantity2", Int, Value::Int(10)),
            ("brand3", Text, text("Brand#34")),
            ("quantity3", Int, Value::Int(20)),
        ],
        columns: &[("revenue", Sum)],
    },
    Query {
        number: 20,
        title: "potential part promotion",
        params: &[
            ("name", Text, text("forest%")),
            ("from_date", DATE, day(1994, 1, 1)),
            ("to_date", DATE, day(1995, 1, 1)),
            ("nation", Text, text("CANADA")),
        ],
        columns: &[("s_name", Words), ("s_address", Words)],
    },
    Query {
        number: 21,
        title: "suppliers who kept orders waiting",
        params: &[("nation", Text, text("SAUDI ARABIA"))],
        columns: &[("s_name", Words), ("numwait", Count)],
    },
    Query {
        number: 22,
        title: "global sales opportunity",
        params: &[
            ("code1", Text, text("13")),
            ("code2", Text, text("31")),
            ("code3", Text, text("23")),
            ("code4", Text, text("29")),
            ("code5", Text, text("30")),
            ("code6", Text, text("18")),
            ("code7", Text, text("17")),
        ],
        columns: &[("cntrycode", Words), ("numcust", Count), ("totacctbal", Sum)],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (built, read) in [
            (day(1998, 9, 2), "1998-09-02"),
            (day(1995, 1, 1), "1995-01-01"),
            (day(1996, 2, 29), "1996-02-29"),
            (day(1970, 1, 1), "1970-01-01"),
        ] {
            assert_eq!(built, Value::Date(Date::parse(read).unwrap()));
        }
    }
}
