//! What the name of an argument's column says about values that the server made: whether it is the column that they were made
//! for, refers to it, or is something else.

use std::collections::BTreeSet;

use super::facts::{ArgumentColumn, StatementFacts};

/// A column that values are made for: its table and name, or the statement and the place in its rows.
pub type DomainName = (String, String);

/// Endings of the names of keys.
const KEY_ENDINGS: &[&str] =
    &["id", "key", "uuid", "guid", "_no", "_nr", "_num", "number", "_fk", "_ref", "code", "token"];
/// Words with such an ending that are no keys.
const NO_KEYS: &[&str] = &["paid", "valid", "void", "grid", "bid", "mid"];

/// Whether a column has the name of a domain: it is the domain's, or refers to it, as `order_id` or `orderid` of any table does
/// to `id` of `orders`.
pub fn is_named(
    (of, name): &DomainName,
    argument: &ArgumentColumn,
    tables: &BTreeSet<&str>,
) -> bool {
    let Some(column) = argument.column.as_deref() else { return false };
    if *of == argument.table && name == column {
        return true;
    }
    // A name that is not used for every table's key is the same column wherever it occurs.
    let stem = column.strip_suffix(name.as_str()).filter(|stem| names(stem, of));
    let refers = stem.is_some_and(|stem| is_named_best(stem, of, tables));
    refers || name == column && name != "id"
}

/// Whether no other table has the name as well: `tag_` is `shop_tag`, and not `shop_book_tags`.
fn is_named_best(stem: &str, of: &str, tables: &BTreeSet<&str>) -> bool {
    let mut others = tables.iter().filter(|table| **table != of && names(stem, table));
    others.all(|other| other.len() > of.len())
}

/// Whether an argument can use the values of a domain by the values alone: its column may be unknown, but must not be anything
/// that holds no key, or the key of another table.
pub fn may_use(
    domain: &DomainName,
    facts: &StatementFacts,
    argument: &ArgumentColumn,
    tables: &BTreeSet<&str>,
) -> bool {
    let Some(column) = argument.column.as_deref() else { return true };
    is_key(column) && !is_of_another(domain, facts, argument, tables)
}

/// Whether a column has the name of a key.
pub fn is_key(column: &str) -> bool {
    let is_word = NO_KEYS.iter().any(|word| {
        column.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    });
    !is_word && KEY_ENDINGS.iter().any(|ending| column.ends_with(ending))
}

/// Whether the name of an argument's column is that of a key of another table than the domain's: `id` of `products`, where a row
/// is looked up, or `product_id` of any table, if the recording has a table `products`.
fn is_of_another(
    (of, name): &DomainName,
    facts: &StatementFacts,
    argument: &ArgumentColumn,
    tables: &BTreeSet<&str>,
) -> bool {
    let Some(column) = argument.column.as_deref() else { return false };
    // A row may be made with the key of another one; and in a join, the column may be that of the domain's table.
    let is_known = argument.is_qualified || !facts.names_table(of);
    if name == column && *of != argument.table {
        return is_known && !facts.inserts();
    }
    let stem = column.strip_suffix("id").unwrap_or(column);
    tables.iter().any(|table| table != of && names(stem, table))
}

/// Whether the beginning of a column's name, as `order_` of `order_id` or `last_order_` of `last_order_id`, is that of a table:
/// `orders`, `order` or `shop_order`.
fn names(stem: &str, table: &str) -> bool {
    // Django's name of the key of a table that extends another one.
    let stem = stem.trim_end_matches('_').trim_end_matches("_ptr");
    let is_last = |whole: &str, word: &str| {
        whole.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    let singular = |ending: &str, by: &str| Some(format!("{}{by}", table.strip_suffix(ending)?));
    let forms =
        [Some(table.to_owned()), singular("s", ""), singular("es", ""), singular("ies", "y")];
    !stem.is_empty()
        && forms.iter().flatten().any(|form| is_last(form, stem) || is_last(stem, form))
}

#[cfg(test)]
mod tests {
    use super::super::facts::facts;
    use super::*;

    const TABLES: [&str; 6] =
        ["orders", "products", "customers", "addresses", "app_user", "categories"];

    /// Whether the first argument is named after `id` of `orders`, and whether values alone may say that it uses it.
    fn of_orders(sql: &str) -> (bool, bool) {
        let orders = ("orders".to_owned(), "id".to_owned());
        let (facts, tables) = (facts(sql), TABLES.into_iter().collect());
        let argument = &facts.columns[0];
        (is_named(&orders, argument, &tables), may_use(&orders, &facts, argument, &tables))
    }

    #[test]
    fn columns_of_the_domain_and_references_to_it_are_named() {
        for sql in [
            "SELECT 1 FROM orders WHERE id = ?",
            "SELECT 1 FROM orders WHERE id IN (?, ?)",
            "SELECT 1 FROM items WHERE order_id = ?",
            "INSERT INTO \"Items\" (\"OrderId\") VALUES (?)",
            "SELECT 1 FROM items i JOIN orders o ON o.id = i.order_id WHERE o.id = ?",
            "SELECT x.id, y.id FROM items x, orders y WHERE y.id = ?",
            "SELECT 1 FROM items AS i JOIN orders AS o ON o.id = i.order_id WHERE \"o\".\"id\" = ?",
        ] {
            assert!(of_orders(sql).0, "{sql}");
        }
    }

    #[test]
    fn a_table_between_two_others_is_not_what_their_keys_refer_to() {
        let facts = facts("INSERT INTO shop_book_tags (book_id, tag_id) VALUES (?, ?)");
        let tables = ["shop_book", "shop_tag", "shop_book_tags"].into_iter().collect();
        let id_of = |table: &str| (table.to_owned(), "id".to_owned());
        for (argument, of) in facts.columns.iter().zip(["shop_book", "shop_tag"]) {
            assert!(is_named(&id_of(of), argument, &tables), "{of}");
            assert!(!is_named(&id_of("shop_book_tags"), argument, &tables), "{of}");
        }
    }

    #[test]
    fn keys_of_other_tables_and_plain_columns_use_no_values() {
        for sql in [
            "UPDATE products SET stock = 1 WHERE id = ?",
            "SELECT 1 FROM items WHERE product_id = ?",
            "INSERT INTO items (customerid) VALUES (?)",
            "SELECT 1 FROM items WHERE shipping_address_id = ?",
            "SELECT 1 FROM items WHERE user_id = ?",
            "SELECT 1 FROM items WHERE category_id = ?",
            "UPDATE items SET qty = ? WHERE x = 1",
            "SELECT 1 FROM items WHERE product = ?",
            "SELECT 1 FROM items WHERE is_paid = ?",
            "SELECT 1 FROM items ORDER BY 1 LIMIT ?",
            "SELECT 1 FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.id = ?",
        ] {
            assert_eq!(of_orders(sql), (false, false), "{sql}");
        }
    }

    #[test]
    fn values_alone_can_say_that_other_keys_use_them() {
        for sql in [
            "SELECT 1 FROM items WHERE parent_id = ?",
            "INSERT INTO invoices VALUES (?, 1)",
            "INSERT INTO invoices (id) VALUES (?)",
            "SELECT 1 FROM items JOIN orders USING (x) WHERE id = ?",
        ] {
            assert_eq!(of_orders(sql), (false, true), "{sql}");
        }
    }
}
