//! A game without effects, whose types cover every kind of schema. Some names collide on purpose.

use game::space::{Distance, ObjectId, Position};
use game::{Game, PlayerId, Tx, Viewer};
use postcard_schema::Schema;
use postcard_schema::schema::{DataModelType, NamedType};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Everything {
    Small { flag: bool, tiny: i8, byte: u8, short: (i16, u16), int: (i32, u32) },
    Large { long: (i64, u64), huge: (i128, u128), size: Size },
    Broken { float: f32, double: f64 },
    Texts { letter: char, text: String, bytes: Vec<u8>, raw: Raw },
    Options { maybe: Option<u32>, nested: Option<Option<bool>>, unit: Option<Unit> },
    Nothings { nothing: (), unit: Unit, empty: Empty },
    Tuples { one: (u8,), many: [u16; 8], few: [u8; 2], pair: Pair },
    Lists { list: Vec<Choice>, lists: Vec<Vec<(u8, bool)>> },
    Maps { table: BTreeMap<String, u64>, tables: BTreeMap<u8, BTreeMap<Twin, Option<String>>> },
    Named(Named),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Named {
    twin: other::Twin,
    ok: Result<u8, String>,
    at: Position,
    r#type: u8,
    #[serde(rename = "my-name")]
    my_name: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Empty {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Pair(u8, Choice);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub struct Twin(u32);

mod other {
    use super::*;

    /// Has the name of another type, and another shape.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
    pub struct Twin {
        of: super::Twin,
    }

    /// Has the name of a root type that it is not.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
    pub struct Notice {
        x: u8,
    }

    /// Has a name that TypeScript needs itself.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
    pub struct Map(Option<()>);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Choice {
    Unit,
    New(u32),
    Tuple(u8, i64),
    Struct {
        kind: u8,
        kind_: bool,
        r#fn: bool,
    },
    Empty {},
    #[serde(rename = "with space")]
    Renamed(other::Map),
}

/// One variant per kind of malformed bytes in `testdata/typescript/refused.txt`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Action {
    Flag(bool),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    I16(i16),
    Text(String),
    Maybe(Option<u8>),
    Letter(char),
    List(Vec<u32>),
    Map(BTreeMap<u8, u8>),
    Bytes(Vec<u8>),
    Float(f32),
    Array([u8; 6]),
    Inner(other::Notice),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Only {
    No,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Never {}

/// Numbers of the width of a pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Size(usize, isize);

impl Schema for Size {
    const SCHEMA: &'static NamedType = &NamedType {
        name: "Size",
        ty: &DataModelType::TupleStruct(&[
            &NamedType { name: "usize", ty: &DataModelType::Usize },
            &NamedType { name: "isize", ty: &DataModelType::Isize },
        ]),
    };
}

/// Bytes whose schema is `ByteArray`, not a list of `u8`.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw(Vec<u8>);

impl Schema for Raw {
    const SCHEMA: &'static NamedType = &NamedType { name: "Raw", ty: &DataModelType::ByteArray };
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct RawVisitor;
        impl Visitor<'_> for RawVisitor {
            type Value = Raw;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Raw, E> {
                Ok(Raw(bytes.to_vec()))
            }
        }
        from.deserialize_byte_buf(RawVisitor)
    }
}

pub struct Kinds;

impl Game for Kinds {
    type State = Everything;
    type Shown = ();
    type Action = Action;
    type Notice = Choice;
    type Refusal = Only;
    type Letter = Never;
    const NAME: &'static str = "Kinds";
    const RANGE: Distance = Distance::of_metres(20);

    fn execute(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId, _: Action) -> Result<(), Only> {
        Err(Only::No)
    }

    fn show(&self, _: &Everything, _: Viewer) -> Option<()> {
        Some(())
    }

    fn on_join(&self, _: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, Only> {
        Err(Only::No)
    }
}
