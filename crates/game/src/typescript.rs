//! A game's types in TypeScript, so that a browser can speak to any game: types, codec, test vectors.
//!
//! Everything is made from the schemas, as text. Nothing is written to a disk here.

mod names;
mod sample;
mod write;

use crate::config::SCHEMA_DEPTH_MAX;
use crate::{Data, Game};
use names::Names;
use postcard_schema::schema::{DataModelType as Kind, DataModelVariant as Form, NamedType, NamedValue};
use sample::{Sample, samples};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why there is no TypeScript for a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypescriptError {
    /// It would hold a type inside itself, or nearly so.
    #[error("{0} is nested more than {SCHEMA_DEPTH_MAX} deep: flatten it")]
    TooDeep(String),
    /// A few bytes could claim any number of elements.
    #[error("{0} holds a list of things that take no bytes: store how many there are instead")]
    ListOfNothing(String),
    /// A schema is no value of a game.
    #[error("{0} holds a schema: schemas are not for games")]
    Schema(String),
    /// The derived schema and the derived bytes differ.
    #[error(
        "the schema of {name} is not what its bytes are ({why}): use no serde attribute that changes them, such as skip, flatten, tag or with"
    )]
    Mismatch {
        /// Which of the game's types.
        name: String,
        /// What happened to a sample.
        why: String,
    },
}

/// The game's types as a TypeScript module, and vectors to test it with: file names and their texts.
///
/// For a game called `Orchard` these are `orchard.ts` and `orchard.vectors.json`. The module needs nothing but a
/// browser or Node; what it holds stands in `docs/schema.md`.
pub fn typescript<G: Game>() -> Result<BTreeMap<String, String>, TypescriptError> {
    let schemas = crate::schemas::<G>();
    for (role, schema) in schemas {
        check(schema, SCHEMA_DEPTH_MAX).map_err(|flaw| flaw(role.to_owned()))?;
    }
    let names = Names::of(&schemas);
    let file = file_name(G::NAME);
    let module = write::module(G::NAME, crate::schema_hash::<G>(), &schemas, &names);
    Ok(BTreeMap::from([(format!("{file}.ts"), module), (format!("{file}.vectors.json"), vectors::<G>()?)]))
}

fn file_name(game: &str) -> String {
    let letters =
        game.chars().map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' });
    letters.collect()
}

/// One vector per line: the type, its bytes in hex, and the value as [`Sample`] writes it.
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

/// The samples of a type that the type itself reads and writes like this.
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

/// Whether a sample is a value of `T`. A type may refuse values that its schema allows (a position out of range),
/// and a set may order them anew: such samples are left out.
fn is_kept<T: Data>(sample: &Sample) -> Result<bool, String> {
    match postcard::take_from_bytes::<T>(&sample.bytes) {
        Ok((value, [])) => Ok(postcard::to_stdvec(&value).is_ok_and(|bytes| bytes == sample.bytes)),
        Ok((_, rest)) => Err(format!("it leaves {} bytes unread", rest.len())),
        Err(postcard::Error::SerdeDeCustom) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

type Flaw = fn(String) -> TypescriptError;

/// Finds what cannot be written in TypeScript, or not safely.
fn check(schema: &NamedType, depth: usize) -> Result<(), Flaw> {
    let depth = depth.checked_sub(1).ok_or(TypescriptError::TooDeep as Flaw)?;
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

/// The types that a type is made of, in order.
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

/// Whether the type gets a name in TypeScript: whatever has one that the game chose.
const fn is_declared(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::UnitStruct | Kind::NewtypeStruct(_) | Kind::TupleStruct(_) | Kind::Struct(_) | Kind::Enum(_)
    )
}

/// Whether a value of the type may be `null`, so that an option of it needs a wrapper.
fn may_be_null(schema: &NamedType) -> bool {
    match schema.ty {
        Kind::Unit | Kind::UnitStruct | Kind::Option(_) => true,
        Kind::NewtypeStruct(inner) => may_be_null(inner),
        _ => false,
    }
}

/// Tuples this long, all of one type, are arrays.
const ARRAY_MIN: usize = 5;

/// The element of a tuple that is really an array.
fn array_element(parts: &[&'static NamedType]) -> Option<&'static NamedType> {
    let first = *parts.first()?;
    (ARRAY_MIN <= parts.len() && parts.iter().all(|part| *part == first)).then_some(first)
}
