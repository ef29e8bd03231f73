//! JSON with the order of its members, and with members of equal names: databases write both.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
    /// A text, number or boolean, as text.
    Scalar(String),
    Null,
}

impl Json {
    /// Parses a text.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("the plan is not JSON: {error}"))
    }

    /// The members of an object; none of other values.
    pub fn members(&self) -> &[(String, Json)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    /// The elements of an array; a value that is none is its only element.
    pub fn elements(&self) -> &[Json] {
        if let Self::Array(elements) = self { elements } else { std::slice::from_ref(self) }
    }

    /// A member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// A member as text: a scalar, or an array of scalars.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.as_text()
    }

    /// The value as text: a scalar, or an array of scalars; `None` for others.
    pub fn as_text(&self) -> Option<String> {
        match self {
            Self::Scalar(text) => Some(text.clone()),
            Self::Array(all) => {
                let texts: Option<Vec<String>> = all.iter().map(Self::as_text).collect();
                texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join(", "))
            }
            Self::Object(_) | Self::Null => None,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Json::Array(elements))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Scalar(text.to_owned()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
}
