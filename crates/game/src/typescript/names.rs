//! Names of types and fields in TypeScript.

use super::{is_declared, parts};
use crate::schema::{plain_name, text};
use postcard_schema::schema::{NamedType, NamedValue};
use std::collections::{BTreeMap, BTreeSet};

/// Names that the module itself uses, or that JavaScript defines: a game's type of such a name gets a number.
const TAKEN: [&str; 20] = [
    "Array",
    "BigInt",
    "Boolean",
    "DataView",
    "DecodeError",
    "EncodeError",
    "Error",
    "Map",
    "Math",
    "NAME",
    "Number",
    "Object",
    "Reader",
    "Record",
    "SCHEMA",
    "Set",
    "String",
    "TextDecoder",
    "TextEncoder",
    "Uint8Array",
];

/// The name of each declared type, by its schema text. Two types of one name and one schema are one type.
pub(super) struct TypeNames(BTreeMap<String, String>);

impl TypeNames {
    /// Chooses names for all types in `schemas`; the names of the roles are reserved.
    pub(super) fn of(schemas: &[(&str, &'static NamedType)]) -> Self {
        let mut names = Self(BTreeMap::new());
        let mut taken: BTreeSet<String> = TAKEN.into_iter().map(str::to_owned).collect();
        taken.extend(schemas.iter().map(|(role, _)| (*role).to_owned()));
        // Roles first, so that another type of the same name gets the number.
        for (role, schema) in schemas {
            if is_declared(schema.ty) && type_name(schema.name) == *role {
                names.0.insert(text(schema), (*role).to_owned());
            }
        }
        schemas.iter().for_each(|(_, schema)| names.add(schema, &mut taken));
        names
    }

    fn add(&mut self, schema: &NamedType, taken: &mut BTreeSet<String>) {
        if is_declared(schema.ty) {
            self.0.entry(text(schema)).or_insert_with(|| free_name(&type_name(schema.name), taken));
        }
        parts(schema.ty).into_iter().for_each(|part| self.add(part, taken));
    }

    /// The name of a declared type.
    pub(super) fn get(&self, schema: &NamedType) -> &str {
        self.0.get(&text(schema)).expect("every declared type was named")
    }
}

fn free_name(wish: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{wish}{number}"));
    let mut names = std::iter::once(wish.to_owned()).chain(numbered);
    names.find(|name| taken.insert(name.clone())).expect("numbers do not end")
}

/// The name of a Rust type, made to start with a capital letter, so that it is no keyword of TypeScript.
fn type_name(name: &str) -> String {
    let word: String = plain_name(name).chars().filter(|it| it.is_alphanumeric() || *it == '_').collect();
    match word.chars().next() {
        Some(first) if first.is_ascii_uppercase() => word,
        _ => format!("T{word}"),
    }
}

/// The TypeScript names of a struct's fields.
pub(super) fn field_names(fields: &[&NamedValue]) -> Vec<String> {
    fields.iter().map(|field| property(field.name)).collect()
}

/// The TypeScript names of a variant's fields. `kind` names the variant, so a field of that name gets an underscore.
pub(super) fn variant_field_names(fields: &[&NamedValue]) -> Vec<String> {
    let names = field_names(fields);
    let avoiding_kind =
        |name: &String| if name.trim_end_matches('_') == "kind" { format!("{name}_") } else { name.clone() };
    names.iter().map(avoiding_kind).collect()
}

/// A field's name. `__proto__` gets an underscore, because assigning it in JavaScript changes the object's prototype.
fn property(name: &str) -> String {
    let name = plain_name(name);
    if name == "__proto__" { "__proto___".to_owned() } else { name.to_owned() }
}

/// A property's name in a type or an object literal.
pub(super) fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// An expression that reads a property.
pub(super) fn access(value: &str, name: &str) -> String {
    if is_identifier(name) { format!("{value}.{name}") } else { format!("{value}[{}]", quoted(name)) }
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    letters.next().is_some_and(|it| is_word(it) && !it.is_ascii_digit()) && letters.all(is_word)
}
