//! Sample values generated from a schema, with their bytes: every variant, and the ends of every number's range.

use super::names::{field_names, variant_field_names};
use super::{array_element, form_parts, may_be_null, types};
use postcard_schema::schema::{DataModelType as Kind, DataModelVariant as Form, NamedType, NamedVariant};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The most samples of one type. They grow with the size of its schema, not with its combinations.
const SAMPLES_MAX: usize = 4_096;

/// A value, in postcard's bytes and as JSON.
///
/// JSON has no bytes, no maps and no whole numbers beyond 2^53: bytes are hex, maps are lists of pairs, and a
/// TypeScript `bigint` is a string of digits.
#[derive(Clone)]
pub(super) struct SampleValue {
    pub(super) bytes: Vec<u8>,
    pub(super) value: Value,
}

impl SampleValue {
    fn of(data: &impl Serialize, value: Value) -> Self {
        let bytes = postcard::to_stdvec(data).expect("numbers and texts always encode");
        Self { bytes, value }
    }

    fn nothing() -> Self {
        Self { bytes: Vec::new(), value: Value::Null }
    }
}

/// Samples of a type, an ordinary one first. Empty if the type has no values.
pub(super) fn samples(schema: &NamedType) -> Vec<SampleValue> {
    let mut samples = match schema.ty {
        Kind::Unit | Kind::UnitStruct => vec![SampleValue::nothing()],
        Kind::Option(inner) => options(inner),
        Kind::Seq(inner) => lists(inner),
        Kind::Map { key, val } => maps(key, val),
        Kind::NewtypeStruct(inner) => samples(inner),
        Kind::Tuple(parts) | Kind::TupleStruct(parts) => match array_element(parts) {
            Some(element) => arrays(element, parts.len()),
            None => rows(parts).into_iter().map(|row| joined(row, Value::Array)).collect(),
        },
        Kind::Struct(fields) => {
            let names = field_names(fields);
            rows(&types(fields)).into_iter().map(|row| joined(row, |values| object(&names, values))).collect()
        }
        Kind::Enum(variants) => {
            (0..).zip(*variants).flat_map(|(index, it)| variant_samples(index, it)).collect()
        }
        kind => leaves(kind),
    };
    samples.truncate(SAMPLES_MAX);
    samples
}

fn leaves(kind: &Kind) -> Vec<SampleValue> {
    match kind {
        Kind::Bool => [true, false].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::I8 => [1, 0, -1, i8::MAX, i8::MIN].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::U8 => [1, 0, 127, 128, u8::MAX].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::I16 => [1, 0, -1, 63, 64, i16::MAX, i16::MIN].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::I32 => [1, 0, -1, 63, 64, i32::MAX, i32::MIN].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::U16 => [1, 0, 127, 128, u16::MAX].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::U32 => [1, 0, 127, 128, u32::MAX].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::I64 | Kind::Isize => [1, 0, -1, i64::MAX, i64::MIN].map(|it| digits(&it)).into(),
        Kind::I128 => [1, 0, -1, i128::MAX, i128::MIN].map(|it| digits(&it)).into(),
        Kind::U64 | Kind::Usize => [1, 0, 127, 128, u64::MAX].map(|it| digits(&it)).into(),
        Kind::U128 => [1, 0, 127, 128, u128::MAX].map(|it| digits(&it)).into(),
        Kind::F32 => [1.5, 0.0, -0.1, f32::MAX, f32::MIN_POSITIVE]
            .map(|it| SampleValue::of(&it, json!(f64::from(it))))
            .into(),
        Kind::F64 => {
            [1.5, 0.0, -0.1, f64::MAX, f64::MIN_POSITIVE].map(|it| SampleValue::of(&it, json!(it))).into()
        }
        Kind::Char => ['a', '\0', 'ä', '€', '🍎'].map(|it| SampleValue::of(&it, json!(it))).into(),
        Kind::String => texts(),
        Kind::ByteArray => [vec![1, 2, 255], Vec::new(), vec![7; 128]].map(|it| bytes(&it)).into(),
        _ => Vec::new(),
    }
}

fn texts() -> Vec<SampleValue> {
    let texts = ["apple".to_owned(), String::new(), "\u{feff}ä€🍎\"\\\n\0".to_owned(), "x".repeat(128)];
    texts.map(|it| SampleValue::of(&it, json!(it))).into()
}

fn digits<T: Serialize + ToString>(number: &T) -> SampleValue {
    SampleValue::of(number, json!(number.to_string()))
}

fn bytes(bytes: &[u8]) -> SampleValue {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    SampleValue::of(&bytes, json!(hex))
}

fn options(inner: &NamedType) -> Vec<SampleValue> {
    let wrapped = |value| if may_be_null(inner) { json!({ "some": value }) } else { value };
    let some =
        samples(inner).into_iter().map(|it| prefixed(&[1], SampleValue { value: wrapped(it.value), ..it }));
    let mut all: Vec<_> = some.collect();
    all.push(SampleValue { bytes: vec![0], value: Value::Null });
    all
}

fn lists(inner: &NamedType) -> Vec<SampleValue> {
    if let Kind::U8 = inner.ty {
        return leaves(&Kind::ByteArray);
    }
    let singles = samples(inner);
    let long = (128 <= singles.len()).then(|| singles.clone());
    let pair = singles.first_chunk::<2>().map(|pair| pair.to_vec());
    let rows = singles.into_iter().map(|it| vec![it]).chain([Vec::new()]).chain(pair).chain(long);
    rows.map(|row| prefixed(&length(row.len()), joined(row, Value::Array))).collect()
}

fn maps(key: &'static NamedType, val: &'static NamedType) -> Vec<SampleValue> {
    let one = rows(&[key, val]).into_iter().map(|row| joined(row, Value::Array));
    let one = one.map(|entry| prefixed(&length(1), SampleValue { value: json!([entry.value]), ..entry }));
    one.chain([SampleValue { bytes: length(0), value: json!([]) }]).collect()
}

fn arrays(element: &NamedType, count: usize) -> Vec<SampleValue> {
    samples(element).into_iter().map(|it| joined(vec![it; count], Value::Array)).collect()
}

fn variant_samples(index: u32, variant: &NamedVariant) -> Vec<SampleValue> {
    let name = variant.name;
    let tag = postcard::to_stdvec(&index).expect("a number encodes");
    let rows = rows(&form_parts(variant.ty)).into_iter();
    let samples: Vec<_> = match variant.ty {
        Form::UnitVariant => vec![SampleValue { bytes: Vec::new(), value: json!({ "kind": name }) }],
        Form::NewtypeVariant(_) => {
            rows.map(|row| joined(row, |mut it| json!({ "kind": name, "value": it.pop() }))).collect()
        }
        Form::TupleVariant(_) => {
            rows.map(|row| joined(row, |it| json!({ "kind": name, "value": it }))).collect()
        }
        Form::StructVariant(fields) => {
            let mut names = variant_field_names(fields);
            names.push("kind".to_owned());
            let tagged = |mut values: Vec<Value>| {
                values.push(json!(name));
                object(&names, values)
            };
            rows.map(|row| joined(row, tagged)).collect()
        }
    };
    samples.into_iter().map(|sample| prefixed(&tag, sample)).collect()
}

/// Rows of one sample per type: first the ordinary ones, then each other sample of each type beside ordinary ones.
fn rows(types: &[&'static NamedType]) -> Vec<Vec<SampleValue>> {
    let columns: Vec<Vec<SampleValue>> = types.iter().map(|it| samples(it)).collect();
    let plain: Option<Vec<SampleValue>> = columns.iter().map(|column| column.first().cloned()).collect();
    let Some(plain) = plain else { return Vec::new() };
    let mut rows = vec![plain.clone()];
    for (at, column) in columns.into_iter().enumerate() {
        for sample in column.into_iter().skip(1) {
            let mut row = plain.clone();
            row[at] = sample;
            rows.push(row);
        }
    }
    rows
}

fn joined(row: Vec<SampleValue>, value: impl FnOnce(Vec<Value>) -> Value) -> SampleValue {
    let bytes = row.iter().flat_map(|it| it.bytes.iter().copied()).collect();
    SampleValue { bytes, value: value(row.into_iter().map(|it| it.value).collect()) }
}

fn object(names: &[String], values: Vec<Value>) -> Value {
    Value::Object(names.iter().cloned().zip(values).collect::<Map<_, _>>())
}

fn prefixed(prefix: &[u8], sample: SampleValue) -> SampleValue {
    SampleValue { bytes: [prefix, &sample.bytes].concat(), ..sample }
}

fn length(count: usize) -> Vec<u8> {
    postcard::to_stdvec(&count).expect("a number encodes")
}
