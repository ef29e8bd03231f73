//! Parts of long documents: an assistant reads what fits into its context.

use serde_json::{Map, Value, json};

use crate::error::ApiError;

/// Longest part of a document that is returned, in bytes of JSON.
const PART_MAX: usize = 48 * 1024;

/// The part of a document at a JSON pointer (RFC 6901), or the sizes of its parts if it is too long.
///
/// # Errors
/// When there is no such part.
pub(super) fn part(document: &Value, pointer: &str) -> Result<Value, ApiError> {
    let found = document.pointer(pointer).ok_or_else(|| {
        let message = format!("the document has no part `{pointer}`");
        ApiError::not_found(message).about("pointer").next("read it without a pointer first")
    })?;
    let bytes = size(found);
    if bytes <= PART_MAX {
        return Ok(json!({ "pointer": pointer, "value": found }));
    }
    let parts: Map<String, Value> = match found {
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (escaped(name), size(value).into())).collect()
        }
        Value::Array(items) => Map::from_iter([("items".to_owned(), items.len().into())]),
        _ => Map::new(),
    };
    Ok(json!({
        "pointer": pointer,
        "too_long": format!("{bytes} bytes; read one of its parts by its pointer"),
        "bytes_of_parts": parts,
    }))
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_document_is_read_by_its_parts() {
        let long = json!({ "a/b": "x".repeat(PART_MAX), "c": [1, 2], "d": null });
        let parts = part(&long, "").unwrap();
        assert_eq!(parts["bytes_of_parts"]["c"], 5);
        assert!(parts["bytes_of_parts"]["a~1b"].as_u64().unwrap() > PART_MAX as u64);
        assert_eq!(part(&long, "/c/1").unwrap()["value"], 2);
        assert_eq!(part(&long, "/d").unwrap()["value"], Value::Null);
        assert!(part(&long, "/e").unwrap_err().message.contains("no part `/e`"));
    }
}
