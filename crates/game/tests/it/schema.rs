//! Schemas as text and as hashes. Saved worlds carry the hashes, so they must not change with a library.

use crate::kinds::Kinds;
use crate::orchard::Orchard;
use crate::testdata::golden;
use game::space::{Distance, ObjectId};
use game::{Data, Game, PlayerId, Tx, Viewer, schema_hash, schema_text};
use std::collections::BTreeMap;
use std::marker::PhantomData;

const MANUAL: &str = include_str!("../../../../docs/schema.md");

#[test]
fn shapes_keep_their_text_and_their_number() {
    let numbered = |text: String, hash: u64| format!("{text}hash = {hash:016x}\n");
    golden("schema/orchard.txt", &numbered(schema_text::<Orchard>(), schema_hash::<Orchard>()));
    golden("schema/kinds.txt", &numbered(schema_text::<Kinds>(), schema_hash::<Kinds>()));
}

#[test]
fn the_manual_shows_what_the_code_does() {
    for line in schema_text::<Orchard>().lines() {
        assert!(MANUAL.contains(line), "docs/schema.md lacks: {line}");
    }
    let hash = format!("{:016x}", schema_hash::<Orchard>());
    assert!(MANUAL.contains(&hash), "docs/schema.md lacks {hash}");
}

/// A game whose state is a `T`, and whose other types are `()`.
struct Of<T>(PhantomData<fn() -> T>);

impl<T: Data> Game for Of<T> {
    type State = T;
    type Shown = ();
    type Action = ();
    type Notice = ();
    type Refusal = ();
    type Letter = ();
    const NAME: &'static str = "Of";
    const RANGE: Distance = Distance::ZERO;

    fn execute(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId, (): ()) -> Result<(), ()> {
        Ok(())
    }

    fn show(&self, _: &T, _: Viewer) -> Option<()> {
        None
    }

    fn on_join(&self, _: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
        Err(())
    }
}

/// Types that differ in one thing each, in modules because the name is one of those things. The derives are the
/// crate's own, which proves that a game needs no other crate for them.
macro_rules! types {
    ($($module:ident: $item:item)*) => {
        $(mod $module {
            #![allow(dead_code, reason = "only their shape is looked at")]
            #[derive(Clone, Debug, game::serde::Serialize, game::serde::Deserialize, game::postcard_schema::Schema)]
            #[serde(crate = "game::serde")]
            #[postcard(crate = game::postcard_schema)]
            $item
        })*
    };
}

types! {
    plain: pub struct T { a: u8, b: u16 }
    swapped: pub struct T { b: u16, a: u8 }
    renamed: pub struct T { a: u8, c: u16 }
    widened: pub struct T { a: u8, b: u32 }
    signed: pub struct T { a: u8, b: i16 }
    longer: pub struct T { a: u8, b: u16, c: u8 }
    shorter: pub struct T { a: u8 }
    called: pub struct U { a: u8, b: u16 }
    tuple: pub struct T(u8, u16);
    newtype: pub struct T(u8);
    unit: pub struct T;
    maybe: pub struct T { a: u8, b: Option<u16> }
    list: pub struct T { a: u8, b: Vec<u16> }
    one: pub enum T { A, B }
    two: pub enum T { B, A }
    three: pub enum T { A, B, C }
    holding: pub enum T { A(u8), B }
    paired: pub enum T { A(u8, u8), B }
    fielded: pub enum T { A { a: u8 }, B }
}

#[test]
fn every_change_changes_the_number() {
    let mut seen = BTreeMap::new();
    let mut add = |name: &'static str, hash: u64| {
        if let Some(other) = seen.insert(hash, name) {
            panic!("{name} and {other} have one number");
        }
    };
    macro_rules! add {
        ($($module:ident),*) => { $(add(stringify!($module), schema_hash::<Of<$module::T>>());)* };
    }
    add!(plain, swapped, renamed, widened, signed, longer, shorter, tuple, newtype, unit, maybe, list);
    add!(one, two, three, holding, paired, fielded);
    add("called", schema_hash::<Of<called::U>>());
    add("number", schema_hash::<Of<u8>>());
    add("pair", schema_hash::<Of<(u8, u8)>>());
    add("map", schema_hash::<Of<BTreeMap<u8, u8>>>());
    add("text", schema_hash::<Of<String>>());
}
