//! A game's types in TypeScript, for browser clients: types, codec, test vectors.
//!
//! All of it is generated as text from the schemas; the caller writes the files.

mod names;
mod sample;
mod write;

use crate::config::SCHEMA_DEPTH_MAX;
use crate::{Data, Game};
use names::TypeNames;
use postcard_schema::schema::{DataModelType as Kind, DataModelVariant as Form, NamedType, NamedValue};
use sample::{SampleValue, samples};
use std::collections::BTreeMap;
use thiserror::Error;

/// The reason why a game's types cannot be written as TypeScript.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypescriptError {
    /// The type is nested too deeply, perhaps within itself.
    #[error("{0} is nested more than {SCHEMA_DEPTH_MAX} deep: flatten it")]
    TooDeep(String),
    /// The type holds a list whose elements have no bytes, so that a few bytes could claim any number of elements.
    #[error("{0} holds a list of things that take no bytes: store how many there are instead")]
    ListOfNothing(String),
    /// The type holds a schema, which is no value of a game.
    #[error("{0} holds a schema: schemas are not for games")]
    Schema(String),
    /// The derived schema does not describe the encoded bytes.
    #[error(
        "the schema of {name} is not what its bytes are ({why}): use no serde attribute that changes them, such as skip, flatten, tag or with"
    )]
    Mismatch {
        /// The role of the type, such as `State`.
        name: String,
        /// The way in which a sample failed.
        why: String,
    },
}

/// The game's types as a TypeScript module, and test vectors for it: file names and their texts.
///
/// For a game called `Orchard` these are `orchard.ts` and `orchard.vectors.json`. The module has no dependencies;
/// `docs/schema.md` lists its exports.
pub fn typescript<G: Game>() -> Result<BTreeMap<String, String>, TypescriptError> {
    let schemas = crate::schemas::<G>();
    for (role, schema) in schemas {
        check(schema, SCHEMA_DEPTH_MAX).map_err(|flaw| flaw(role.to_owned()))?;
    }
    let names = TypeNames::of(&schemas);
    let file = file_name(G::NAME);
    let module = write::module(G::NAME, crate::schema_hash::<G>(), &schemas, &names);
    Ok(BTreeMap::from([(format!("{file}.ts"), module), (format!("{file}.vectors.json"), vectors::<G>()?)]))
}

fn file_name(game: &str) -> String {
    let letters =
        game.chars().map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' });
    letters.collect()
}

/// One vector per line: the type, its bytes in hex, and the value as [`SampleValue`] writes it.
fn vectors<G: Game>() -> Result<String, TypescriptError> {
    let mut lines = Vec::new();
    vectors_of::<G::State>("State", &mut lines)?;
    vectors_of::<G::Shown>("Shown", &mut lines)?;
    vectors_of::<G::Action>("Action", &mut lines)?;
    vectors_of::<G::Notice>("Notice", &mut lines)?;
    vectors_of::<G::Refusal>("Refusal", &mut lines)?;
    vectors_of::<G::Letter>("Letter", &mut lines)?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// Adds the samples of a type that the Rust type decodes and encodes to the same bytes.
fn vectors_of<T: Data>(role: &str, lines: &mut Vec<String>) -> Result<(), TypescriptError> {
    let samples = samples(T::SCHEMA);
    let before = lines.len();
    for sample in &samples {
        let kept = is_kept::<T>(sample);
        let kept = kept.map_err(|why| TypescriptError::Mismatch { name: role.to_owned(), why })?;
        if kept {
            let hex: String = sample.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let vector = serde_json::json!({ "type": role, "hex": hex, "value": sample.value });
            lines.push(vector.to_string());
        }
    }
    if !samples.is_empty() && lines.len() == before {
        let why = "it refuses every sample".to_owned();
        return Err(TypescriptError::Mismatch { name: role.to_owned(), why });
    }
    Ok(())
}

/// True if a sample is a value of `T`. A type may refuse values that its schema allows (a position out of range), and a
/// set may reorder its elements: such samples are left out.
fn is_kept<T: Data>(sample: &SampleValue) -> Result<bool, String> {
    match postcard::take_from_bytes::<T>(&sample.bytes) {
        Ok((value, [])) => Ok(postcard::to_stdvec(&value).is_ok_and(|bytes| bytes == sample.bytes)),
        Ok((_, rest)) => Err(format!("it leaves {} bytes unread", rest.len())),
        // The type's own check, such as `try_from`, refuses the value.
        Err(postcard::Error::SerdeDeCustom) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

type ErrorForType = fn(String) -> TypescriptError;

/// Refuses types that cannot be decoded in TypeScript, or not safely.
fn check(schema: &NamedType, depth: usize) -> Result<(), ErrorForType> {
    let depth = depth.checked_sub(1).ok_or(TypescriptError::TooDeep as ErrorForType)?;
    match schema.ty {
        Kind::Schema => return Err(TypescriptError::Schema),
        Kind::Seq(inner) if takes_no_bytes(inner) => return Err(TypescriptError::ListOfNothing),
        Kind::Map { key, val } if takes_no_bytes(key) && takes_no_bytes(val) => {
            return Err(TypescriptError::ListOfNothing);
        }
        _ => (),
    }
    parts(schema.ty).into_iter().try_for_each(|part| check(part, depth))
}

fn takes_no_bytes(schema: &NamedType) -> bool {
    match schema.ty {
        Kind::Unit | Kind::UnitStruct => true,
        Kind::NewtypeStruct(_) | Kind::Tuple(_) | Kind::TupleStruct(_) | Kind::Struct(_) => {
            parts(schema.ty).into_iter().all(takes_no_bytes)
        }
        _ => false,
    }
}

/// The direct parts of a type, in order.
fn parts(kind: &Kind) -> Vec<&'static NamedType> {
    match kind {
        Kind::Option(inner) | Kind::NewtypeStruct(inner) | Kind::Seq(inner) => vec![inner],
        Kind::Tuple(parts) | Kind::TupleStruct(parts) => parts.to_vec(),
        Kind::Map { key, val } => vec![key, val],
        Kind::Struct(fields) => types(fields),
        Kind::Enum(variants) => variants.iter().flat_map(|variant| form_parts(variant.ty)).collect(),
        _ => Vec::new(),
    }
}

fn form_parts(form: &Form) -> Vec<&'static NamedType> {
    match form {
        Form::UnitVariant => Vec::new(),
        Form::NewtypeVariant(inner) => vec![inner],
        Form::TupleVariant(parts) => parts.to_vec(),
        Form::StructVariant(fields) => types(fields),
    }
}

fn types(fields: &[&NamedValue]) -> Vec<&'static NamedType> {
    fields.iter().map(|field| field.ty).collect()
}

/// True if the type gets a name in TypeScript: structs and enums, whose names the game chose.
const fn is_declared(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::UnitStruct | Kind::NewtypeStruct(_) | Kind::TupleStruct(_) | Kind::Struct(_) | Kind::Enum(_)
    )
}

/// True if a value of the type may be `null` in TypeScript, so that an option of it needs a wrapper.
fn may_be_null(schema: &NamedType) -> bool {
    match schema.ty {
        Kind::Unit | Kind::UnitStruct | Kind::Option(_) => true,
        Kind::NewtypeStruct(inner) => may_be_null(inner),
        _ => false,
    }
}

/// A tuple of at least this many elements of one type becomes an array: a schema does not tell them apart.
const ARRAY_MIN: usize = 5;

/// The element type of a tuple that becomes an array.
fn array_element(parts: &[&'static NamedType]) -> Option<&'static NamedType> {
    let first = *parts.first()?;
    (ARRAY_MIN <= parts.len() && parts.iter().all(|part| *part == first)).then_some(first)
}
