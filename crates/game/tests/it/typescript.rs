//! The TypeScript of two games as golden files. `tests/typescript/check.sh` compiles and runs them.

use crate::kinds::{Action, Kinds};
use crate::orchard::Orchard;
use crate::testdata::golden;
use game::postcard_schema::Schema;
use game::serde::{Deserialize, Serialize};
use game::space::{Distance, ObjectId};
use game::{Game, PlayerId, Tx, TypescriptError, Viewer, typescript};

const REFUSED: &str = include_str!("../../testdata/typescript/refused.txt");

#[test]
fn modules_and_vectors_stay_as_they_are() {
    for files in [typescript::<Orchard>(), typescript::<Kinds>()] {
        for (name, text) in files.unwrap() {
            golden(&format!("typescript/{name}"), &text);
        }
    }
}

fn vectors_of<G: Game>(role: &str) -> Vec<String> {
    let files = typescript::<G>().unwrap();
    let vectors = files.iter().find(|(name, _)| name.ends_with(".json")).unwrap().1;
    let vectors: serde_json::Value = serde_json::from_str(vectors).unwrap();
    let of_role = vectors.as_array().unwrap().iter().filter(|it| it["type"] == role);
    of_role.map(|it| it["hex"].as_str().unwrap().to_owned()).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    hex.as_bytes().as_chunks().0.iter().map(|&[high, low]| digit(high) << 4 | digit(low)).collect()
}

fn reencoded<T: game::Data>(hex: &str) -> String {
    let bytes = unhex(hex);
    let (value, rest) = postcard::take_from_bytes::<T>(&bytes).unwrap();
    assert!(rest.is_empty(), "{hex}");
    postcard::to_stdvec(&value).unwrap().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn vectors_are_what_the_types_write_themselves() {
    for hex in vectors_of::<Kinds>("State") {
        assert_eq!(reencoded::<<Kinds as Game>::State>(&hex), hex);
    }
    for hex in vectors_of::<Kinds>("Notice") {
        assert_eq!(reencoded::<<Kinds as Game>::Notice>(&hex), hex);
    }
    for hex in vectors_of::<Kinds>("Action") {
        assert_eq!(reencoded::<Action>(&hex), hex);
    }
}

#[test]
fn every_variant_has_a_vector() {
    let mut tags: Vec<_> = vectors_of::<Kinds>("Action").iter().map(|hex| unhex(hex)[0]).collect();
    tags.dedup();
    assert_eq!(tags, (0..15).collect::<Vec<_>>());
    assert_eq!(vectors_of::<Kinds>("Letter"), [""; 0], "a type without values has no vectors");
    assert_eq!(vectors_of::<Kinds>("Shown"), [""], "a type with one value has one");
}

/// The same table refuses in TypeScript: `tests/typescript/check.mjs`.
#[test]
fn rust_refuses_the_bytes_that_typescript_must_refuse() {
    let lines = REFUSED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let (hex, why) = line.split_once(" = ").unwrap();
        let bytes = unhex(&hex.replace(' ', ""));
        let read = postcard::take_from_bytes::<Action>(&bytes);
        assert!(!matches!(read, Ok((_, []))), "{why}: {read:?}");
    }
}

/// Defines a game whose action cannot be written as TypeScript.
macro_rules! broken {
    ($name:ident, $action:ty) => {
        struct $name;
        impl Game for $name {
            type State = ();
            type Shown = ();
            type Action = $action;
            type Notice = ();
            type Refusal = ();
            type Letter = ();
            const NAME: &'static str = "Broken";
            const RANGE: Distance = Distance::ZERO;
            fn execute(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId, _: $action) -> Result<(), ()> {
                Ok(())
            }
            fn show(&self, (): &(), _: Viewer) -> Option<()> {
                None
            }
            fn on_join(&self, _: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
                Err(())
            }
        }
    };
}

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
#[serde(crate = "game::serde")]
#[postcard(crate = game::postcard_schema)]
#[allow(dead_code, reason = "only its schema is used")]
struct WithSkippedField(u8, #[serde(skip)] u8);

broken!(Forgets, WithSkippedField);
broken!(ListsNothing, Vec<((), [(); 3])>);

#[test]
fn an_unsupported_type_is_refused_with_a_reason() {
    let error = typescript::<Forgets>().unwrap_err().to_string();
    assert!(
        error.starts_with("the schema of Action is not what its bytes are (it leaves 1 bytes unread)"),
        "{error}"
    );
    assert_eq!(typescript::<ListsNothing>(), Err(TypescriptError::ListOfNothing("Action".to_owned())));
}
