//! Schemas of members that are made by hand: they point to published schemas by name.

use utoipa::openapi::schema::{AnyOfBuilder, Object, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// The published schemas of what runs leave, by the names that they have here.
pub(crate) const RESULTS: [(&str, &str); 5] = [
    ("RunResult", include_str!("../../../docs/reference/result-schema.json")),
    ("ProfileResult", include_str!("../../../docs/reference/profile-schema.json")),
    ("CapacityResult", include_str!("../../../docs/reference/capacity-schema.json")),
    ("ComparisonResult", include_str!("../../../docs/reference/comparison-schema.json")),
    ("HistoryResult", include_str!("../../../docs/reference/history-schema.json")),
];

/// A part of the published schema, by name.
pub(crate) fn part(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// A `RunSpec`, or nothing.
pub(crate) fn run_spec_schema() -> RefOr<Schema> {
    let nothing = Object::builder().schema_type(Type::Null);
    AnyOfBuilder::new().item(part("RunSpec")).item(nothing).into()
}

/// What a job leaves: a document, which says by `kind` what it is of, unless it reports a build or a
/// check; or why there is none.
pub(crate) fn document_schema() -> RefOr<Schema> {
    let documents = RESULTS.iter().map(|(name, _)| *name).filter(|name| *name != "HistoryResult");
    let all = documents.chain(["BuildReport", "CheckReport"]).map(part);
    let any = all.fold(AnyOfBuilder::new(), AnyOfBuilder::item);
    let plain = |kind| Object::builder().schema_type(kind);
    any.item(plain(Type::String)).item(plain(Type::Null))
        .description(Some(
            "The document that it left, by `kind` of a run, a profile, a search for the capacity or a comparison; \
             the report of a build or a check; or why it could not be done, as text; `null` while it runs, and for \
             lost ones.",
        ))
        .into()
}

/// A `Host`.
pub(crate) fn host_schema() -> RefOr<Schema> {
    part("Host")
}
