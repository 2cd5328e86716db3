//! The text of the TypeScript module.

use super::names::{TypeNames, access, field_names, key, quoted, variant_field_names};
use super::{array_element, is_declared, may_be_null, parts, types};
use crate::schema::simple;
use postcard_schema::schema::{DataModelType as Kind, DataModelVariant as Form, NamedType, NamedVariant};
use std::collections::BTreeSet;

/// The part that all modules share: the reader and the writer.
const RUNTIME: &str = include_str!("runtime.ts");

/// Writes the whole module.
pub(super) fn module(
    game: &str,
    hash: u64,
    schemas: &[(&str, &'static NamedType)],
    names: &TypeNames,
) -> String {
    let mut text = format!(
        "// The types of {game}, their bytes, and nothing else. Made by `ecumene schema --ts`: change the game, not this.\n\n\
         /** The name of the world. */\nexport const NAME = {};\n\n\
         /** The hash of all types below: a server with another hash has another version of the game. */\n\
         export const SCHEMA = \"{hash:016x}\";\n",
        quoted(game)
    );
    let mut written = BTreeSet::new();
    schemas.iter().for_each(|(_, schema)| declare(schema, names, &mut written, &mut text));
    schemas.iter().for_each(|(role, schema)| text.push_str(&role_functions(role, schema, names)));
    text.push('\n');
    text.push_str(RUNTIME);
    text
}

/// The alias of a role, and its functions to encode and decode.
fn role_functions(role: &str, schema: &NamedType, names: &TypeNames) -> String {
    let name = type_text(schema, names);
    let alias = if name == role { String::new() } else { format!("\nexport type {role} = {name};\n") };
    let (write, read) = (write_text(schema, "value", names), read_text(schema, names));
    let value = used("value", &write);
    format!(
        "{alias}
export function encode{role}({value}: {role}): Uint8Array {{
  const out = new Writer();
  {write}
  return out.done();
}}

export function decode{role}(bytes: Uint8Array): {role} {{
  const input = new Reader(bytes);
  const value: {role} = {read};
  input.end();
  return value;
}}
"
    )
    .replace("\n  \n", "\n")
}

/// Writes the declarations of a type and of all its parts, each once.
fn declare(schema: &'static NamedType, names: &TypeNames, written: &mut BTreeSet<String>, text: &mut String) {
    if is_declared(schema.ty) && written.insert(names.get(schema).to_owned()) {
        text.push_str(&declaration(schema, names));
    }
    parts(schema.ty).into_iter().for_each(|part| declare(part, names, written, text));
}

fn declaration(schema: &NamedType, names: &TypeNames) -> String {
    let name = names.get(schema);
    let (shape, write, read) = match schema.ty {
        Kind::Struct(fields) => {
            let (keys, types) = (field_names(fields), types(fields));
            let write = write_fields(&keys, &types, names);
            (
                interface(&keys, &types, names),
                write,
                format!("return {};", read_fields(None, &keys, &types, names)),
            )
        }
        Kind::Enum(variants) => enumeration(variants, names),
        Kind::NewtypeStruct(inner) => (
            type_text(inner, names),
            write_text(inner, "value", names),
            format!("return {};", read_text(inner, names)),
        ),
        Kind::TupleStruct(parts) => (
            tuple_type(parts, names),
            write_tuple(parts, "value", names),
            format!("return {};", read_tuple(parts, names)),
        ),
        _ => ("null".to_owned(), String::new(), "return null;".to_owned()),
    };
    // A union starts on a line of its own.
    let shape = if shape.starts_with('\n') { shape } else { format!(" {shape}") };
    let (out, input) = (used("out", &write), used("input", &read));
    let value = used("value", &write);
    format!(
        "
export type {name} ={shape};

function write{name}({out}: Writer, {value}: {name}): void {{
  {write}
}}

function read{name}({input}: Reader): {name} {{
  {read}
}}
"
    )
    .replace("{\n  \n}", "{}")
}

/// A parameter's name, with an underscore before it if `body` does not use it, as linters demand.
fn used(name: &str, body: &str) -> String {
    let is_letter = |it: char| it.is_alphanumeric() || it == '_';
    let is_used = body.split(|it| !is_letter(it)).any(|word| word == name);
    if is_used { name.to_owned() } else { format!("_{name}") }
}

fn interface(keys: &[String], types: &[&NamedType], names: &TypeNames) -> String {
    let fields = keys.iter().zip(types);
    let fields: String =
        fields.map(|(name, ty)| format!("\n  {}: {};", key(name), type_text(ty, names))).collect();
    if fields.is_empty() { "Record<string, never>".to_owned() } else { format!("{{{fields}\n}}") }
}

fn enumeration(variants: &[&NamedVariant], names: &TypeNames) -> (String, String, String) {
    let shapes: Vec<_> = variants.iter().map(|it| format!("\n  | {}", variant_type(it, names))).collect();
    let shape = if shapes.is_empty() { "never".to_owned() } else { shapes.concat() };
    let write: Vec<_> = (0..).zip(variants).map(|(index, it)| write_variant(index, it, names)).collect();
    let read: Vec<_> = (0..).zip(variants).map(|(index, it)| read_variant(index, it, names)).collect();
    let write = if write.is_empty() {
        "throw new EncodeError(`${value as unknown} is no value of a type that has none`);".to_owned()
    } else {
        let write = write.concat();
        format!("switch (value.kind) {{{write}\n    default:\n      return unknownKind(value);\n  }}")
    };
    let read = format!(
        "switch (input.variant()) {{{}\n    default:\n      throw new DecodeError(\"an unknown variant\");\n  }}",
        read.concat()
    );
    (shape, write, read)
}

fn variant_type(variant: &NamedVariant, names: &TypeNames) -> String {
    let name = quoted(variant.name);
    match variant.ty {
        Form::UnitVariant => format!("{{ kind: {name} }}"),
        Form::NewtypeVariant(inner) => format!("{{ kind: {name}; value: {} }}", type_text(inner, names)),
        Form::TupleVariant(parts) => format!("{{ kind: {name}; value: {} }}", tuple_type(parts, names)),
        Form::StructVariant(fields) => {
            let keys = variant_field_names(fields);
            let fields = keys.iter().zip(*fields);
            let fields = fields.map(|(it, field)| format!("; {}: {}", key(it), type_text(field.ty, names)));
            format!("{{ kind: {name}{} }}", fields.collect::<String>())
        }
    }
}

fn write_variant(index: u32, variant: &NamedVariant, names: &TypeNames) -> String {
    let body = match variant.ty {
        Form::UnitVariant => String::new(),
        Form::NewtypeVariant(inner) => write_text(inner, "value.value", names),
        Form::TupleVariant(parts) => write_tuple(parts, "value.value", names),
        Form::StructVariant(fields) => write_fields(&variant_field_names(fields), &types(fields), names),
    };
    let body = if body.is_empty() { body } else { format!("\n      {}", body.replace("\n  ", "\n      ")) };
    format!("\n    case {}:\n      out.variant({index});{body}\n      return;", quoted(variant.name))
}

fn read_variant(index: u32, variant: &NamedVariant, names: &TypeNames) -> String {
    let name = quoted(variant.name);
    let value = match variant.ty {
        Form::UnitVariant => format!("{{ kind: {name} }}"),
        Form::NewtypeVariant(inner) => format!("{{ kind: {name}, value: {} }}", read_text(inner, names)),
        Form::TupleVariant(parts) => format!("{{ kind: {name}, value: {} }}", read_tuple(parts, names)),
        Form::StructVariant(fields) => {
            read_fields(Some(&name), &variant_field_names(fields), &types(fields), names)
        }
    };
    format!("\n    case {index}:\n      return {value};")
}

fn write_fields(keys: &[String], types: &[&NamedType], names: &TypeNames) -> String {
    let lines = keys.iter().zip(types).map(|(name, ty)| write_text(ty, &access("value", name), names));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n  ")
}

/// The expression that reads fields. JavaScript evaluates an object literal in the order of its text, so the fields are
/// read in the order of their bytes.
fn read_fields(kind: Option<&str>, keys: &[String], types: &[&NamedType], names: &TypeNames) -> String {
    let kind = kind.map(|kind| format!("kind: {kind}"));
    let fields = keys.iter().zip(types).map(|(name, ty)| format!("{}: {}", key(name), read_text(ty, names)));
    let fields: Vec<_> = kind.into_iter().chain(fields).collect();
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
}

/// A type as it appears inside another one.
fn type_text(schema: &NamedType, names: &TypeNames) -> String {
    match schema.ty {
        kind if is_declared(kind) => names.get(schema).to_owned(),
        Kind::Bool => "boolean".to_owned(),
        Kind::I64 | Kind::U64 | Kind::I128 | Kind::U128 | Kind::Usize | Kind::Isize => "bigint".to_owned(),
        Kind::Char | Kind::String => "string".to_owned(),
        Kind::ByteArray => "Uint8Array".to_owned(),
        Kind::Unit => "null".to_owned(),
        Kind::Option(inner) if may_be_null(inner) => {
            format!("{{ some: {} }} | null", type_text(inner, names))
        }
        Kind::Option(inner) => format!("{} | null", type_text(inner, names)),
        Kind::Seq(inner) if matches!(inner.ty, Kind::U8) => "Uint8Array".to_owned(),
        Kind::Seq(inner) => format!("Array<{}>", type_text(inner, names)),
        Kind::Map { key, val } => format!("Map<{}, {}>", type_text(key, names), type_text(val, names)),
        Kind::Tuple(parts) => tuple_type(parts, names),
        _ => "number".to_owned(),
    }
}

fn tuple_type(parts: &[&'static NamedType], names: &TypeNames) -> String {
    match array_element(parts) {
        Some(element) => format!("Array<{}>", type_text(element, names)),
        None => format!("[{}]", parts.iter().map(|it| type_text(it, names)).collect::<Vec<_>>().join(", ")),
    }
}

/// The statements that write the value of the expression `value`.
fn write_text(schema: &NamedType, value: &str, names: &TypeNames) -> String {
    match schema.ty {
        kind if is_declared(kind) => format!("write{}(out, {value});", names.get(schema)),
        Kind::Unit => String::new(),
        Kind::Option(inner) => {
            let name = if may_be_null(inner) { "wrapped" } else { "option" };
            format!("out.{name}({value}, {});", writer_of(inner, names))
        }
        Kind::Seq(inner) if matches!(inner.ty, Kind::U8) => format!("out.bytes({value});"),
        Kind::Seq(inner) => format!("out.list({value}, {});", writer_of(inner, names)),
        Kind::Map { key, val } => {
            format!("out.map({value}, {}, {});", writer_of(key, names), writer_of(val, names))
        }
        Kind::Tuple(parts) => write_tuple(parts, value, names),
        kind => format!("out.{}({value});", simple(kind)),
    }
}

fn writer_of(schema: &NamedType, names: &TypeNames) -> String {
    let body = write_text(schema, "it", names);
    format!("({}: {}) => {{ {body} }}", used("it", &body), type_text(schema, names))
}

fn write_tuple(parts: &[&'static NamedType], value: &str, names: &TypeNames) -> String {
    if let Some(element) = array_element(parts) {
        return format!("out.array({value}, {}, {});", parts.len(), writer_of(element, names));
    }
    let writes = parts.iter().enumerate().map(|(at, it)| write_text(it, &format!("{value}[{at}]"), names));
    writes.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The expression that reads a value of a type.
fn read_text(schema: &NamedType, names: &TypeNames) -> String {
    match schema.ty {
        kind if is_declared(kind) => format!("read{}(input)", names.get(schema)),
        Kind::Unit => "null".to_owned(),
        Kind::Option(inner) => {
            let name = if may_be_null(inner) { "wrapped" } else { "option" };
            format!("input.{name}({})", reader_of(inner, names))
        }
        Kind::Seq(inner) if matches!(inner.ty, Kind::U8) => "input.bytes()".to_owned(),
        Kind::Seq(inner) => format!("input.list({})", reader_of(inner, names)),
        Kind::Map { key, val } => format!("input.map({}, {})", reader_of(key, names), reader_of(val, names)),
        Kind::Tuple(parts) => read_tuple(parts, names),
        kind => format!("input.{}()", simple(kind)),
    }
}

fn reader_of(schema: &NamedType, names: &TypeNames) -> String {
    format!("(): {} => {}", type_text(schema, names), read_text(schema, names))
}

fn read_tuple(parts: &[&'static NamedType], names: &TypeNames) -> String {
    match array_element(parts) {
        Some(element) => format!("input.array({}, {})", parts.len(), reader_of(element, names)),
        None => format!("[{}]", parts.iter().map(|it| read_text(it, names)).collect::<Vec<_>>().join(", ")),
    }
}
