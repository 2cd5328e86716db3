//! The schema of a game's types as text and as a hash, for other languages and for saved worlds.
//!
//! The hashed text has a format of our own (`docs/schema.md`), so that a new release of a library does not change the
//! hash in a saved world.

use crate::Game;
use crate::config::SCHEMA_DEPTH_MAX;
use postcard_schema::Schema;
use postcard_schema::schema::{DataModelType as Kind, DataModelVariant as Form, NamedType, NamedValue};

/// The types of a game that leave the process, each with its role.
pub fn schemas<G: Game>() -> [(&'static str, &'static NamedType); 6] {
    [
        ("State", G::State::SCHEMA),
        ("Shown", G::Shown::SCHEMA),
        ("Action", G::Action::SCHEMA),
        ("Notice", G::Notice::SCHEMA),
        ("Refusal", G::Refusal::SCHEMA),
        ("Letter", G::Letter::SCHEMA),
    ]
}

/// A hash that changes with the schema of any of the game's types. Saved worlds carry it.
pub fn schema_hash<G: Game>() -> u64 {
    fnv(schema_text::<G>().as_bytes())
}

/// The schemas of the game's types as text, one line each: the input of [`schema_hash`]. See `docs/schema.md`.
pub fn schema_text<G: Game>() -> String {
    schemas::<G>().into_iter().map(|(role, schema)| format!("{role} = {}\n", text(schema))).collect()
}

/// One type as text. Only names that the game chose appear: names of lists and numbers belong to a library.
pub(crate) fn text(schema: &NamedType) -> String {
    let mut out = String::new();
    write_type(schema, SCHEMA_DEPTH_MAX, &mut out);
    out
}

fn write_type(schema: &NamedType, depth: usize, out: &mut String) {
    let Some(depth) = depth.checked_sub(1) else { return out.push('…') };
    match schema.ty {
        Kind::Option(inner) => write_list("option", &[inner], depth, out),
        Kind::Seq(inner) => write_list("list", &[inner], depth, out),
        Kind::Map { key, val } => write_list("map", &[key, val], depth, out),
        Kind::Tuple(parts) => write_list("tuple", parts, depth, out),
        Kind::UnitStruct => write_named("struct", schema.name, out),
        Kind::NewtypeStruct(inner) => {
            write_named("struct", schema.name, out);
            write_list(" newtype", &[inner], depth, out);
        }
        Kind::TupleStruct(parts) => {
            write_named("struct", schema.name, out);
            write_list(" tuple", parts, depth, out);
        }
        Kind::Struct(fields) => {
            write_named("struct", schema.name, out);
            write_fields(fields, depth, out);
        }
        Kind::Enum(variants) => {
            write_named("enum", schema.name, out);
            out.push_str(" {");
            for variant in *variants {
                write_named("", variant.name, out);
                write_form(variant.ty, depth, out);
                out.push(',');
            }
            out.push('}');
        }
        kind => out.push_str(simple(kind)),
    }
}

fn write_form(form: &Form, depth: usize, out: &mut String) {
    match form {
        Form::UnitVariant => (),
        Form::NewtypeVariant(inner) => write_list(" newtype", &[inner], depth, out),
        Form::TupleVariant(parts) => write_list(" tuple", parts, depth, out),
        Form::StructVariant(fields) => write_fields(fields, depth, out),
    }
}

fn write_fields(fields: &[&NamedValue], depth: usize, out: &mut String) {
    out.push_str(" {");
    for field in fields {
        write_named("", field.name, out);
        out.push_str(": ");
        write_type(field.ty, depth, out);
        out.push(',');
    }
    out.push('}');
}

fn write_list(word: &str, parts: &[&NamedType], depth: usize, out: &mut String) {
    out.push_str(word);
    out.push('(');
    for part in parts {
        write_type(part, depth, out);
        out.push(',');
    }
    out.push(')');
}

/// A name without `r#`, which Rust puts before keywords, and without type parameters.
pub(crate) fn plain_name(name: &str) -> &str {
    let name = name.strip_prefix("r#").unwrap_or(name);
    name.split('<').next().unwrap_or(name)
}

/// Writes a name in quotes, so that it cannot be mistaken for a keyword of the format.
fn write_named(word: &str, name: &str, out: &mut String) {
    out.push_str(word);
    out.push_str(" \"");
    for letter in plain_name(name).chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
}

/// The keyword of a kind that has no parts.
pub(crate) const fn simple(kind: &Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::I8 => "i8",
        Kind::U8 => "u8",
        Kind::I16 => "i16",
        Kind::I32 => "i32",
        Kind::I64 => "i64",
        Kind::I128 => "i128",
        Kind::U16 => "u16",
        Kind::U32 => "u32",
        Kind::U64 => "u64",
        Kind::U128 => "u128",
        Kind::Usize => "usize",
        Kind::Isize => "isize",
        Kind::F32 => "f32",
        Kind::F64 => "f64",
        Kind::Char => "char",
        Kind::String => "string",
        Kind::ByteArray => "bytes",
        Kind::Unit => "unit",
        Kind::Schema => "schema",
        _ => "with parts",
    }
}

/// FNV-1a, 64 bits: our own code, because saved worlds store the hash and a library must not change it.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
