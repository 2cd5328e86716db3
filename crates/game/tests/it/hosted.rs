//! `Hosted`: panics become faults, refusals change nothing, and arguments must decode to the last byte.

use crate::probe::{Probe, RANGE};
use game::config::{MESSAGE_MAX, THINK_MIN};
use game::machine::{Rng, Time};
use game::space::{Distance, Epoch, Line, Motion, ObjectId, Polygon, Position, ZoneId};
use game::{
    Addressee, Call, CallError, CallOutput, Draft, Hosted, HostedGame, NameAllocator, PlayerId, Product,
    Scope, SoloTable, Viewer, WORLD,
};

const A: ObjectId = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 0 };
const GONE: ObjectId = ObjectId { counter: 9, ..A };
const VIEWER: Viewer = Viewer { owns: false, class: 0 };

fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut length = text.len();
    while 0x7f < length {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(text.bytes());
    bytes
}

fn table() -> SoloTable {
    SoloTable([(A, (Motion::default(), bytes("a"))), (WORLD, (Motion::default(), bytes("world")))].into())
}

/// One event on the table above, as a zone runs it.
fn run(game: Probe, call: Call<'_>) -> Result<(CallOutput, Product), CallError> {
    let (rules, table, now) = (Hosted(game), table(), Time::from_millis(5));
    let scope = rules.scope(&table, now, call)?;
    let names = NameAllocator { zone: ZoneId(1), epoch: Epoch(2), next: 0 };
    let mut draft = Draft::new(&table, scope, call.actor(), now, Rng::seeded(1), names);
    let output = rules.run(&mut draft, call)?;
    Ok((output, draft.finish().map_err(CallError::Fault)?.0))
}

fn act(action: &[u8]) -> Result<(CallOutput, Product), CallError> {
    run(Probe(""), Call::Act { actor: A, action })
}

fn fault(refused: Result<(CallOutput, Product), CallError>) -> String {
    match refused {
        Err(CallError::Fault(text)) => text,
        other => panic!("no fault: {other:?}"),
    }
}

fn region() -> Polygon {
    let corner = |metres| Position::from_metres(metres, metres).unwrap();
    Polygon::rectangle(corner(-9.0), corner(9.0)).unwrap()
}

#[test]
fn a_panic_in_any_event_is_a_fault() {
    let (region, letter) = (region(), bytes("hello"));
    let join = Call::Join { player: PlayerId(1), name: "Ada" };
    for (function, call) in [
        ("populate", Call::Populate { region: &region }),
        ("scope", Call::Act { actor: A, action: &letter }),
        ("execute", Call::Act { actor: A, action: &letter }),
        ("think", Call::Think { object: A }),
        ("on_letter", Call::Letter { to: Addressee::Object(A), letter: &letter }),
        ("on_join", join),
        ("on_leave", Call::Leave { avatar: A }),
    ] {
        assert_eq!(fault(run(Probe(function), call)), format!("the game panicked: {function} is broken"));
        assert!(run(Probe(""), call).is_ok(), "{function} works if it is not broken");
    }
    assert!(run(Probe("entrance"), join).is_ok(), "a player without an entrance enters at the origin");
}

#[test]
fn a_call_that_does_not_end_is_a_fault() {
    for (action, function, bound) in [
        ("get for ever", "tx.get", "1000000 steps"),
        ("look around for ever", "tx.near", "1000000 steps"),
        ("draw for ever", "tx.chance", "1000000 steps"),
        ("nest for ever", "tx.get", "512 KiB deep"),
    ] {
        let text = fault(act(&bytes(action)));
        assert!(text.starts_with(function) && text.contains(bound), "{action}: {text}");
        assert_eq!(text, fault(act(&bytes(action))), "the same bound again");
    }
    assert!(act(&bytes("work hard")).is_ok(), "half of the steps");
}

/// A game that ignores the region in `populate` fills the same world under any division into zones.
#[test]
fn each_zone_keeps_only_the_objects_of_its_own_region() {
    let upright = Line::through(Position::ORIGIN, Position::saturating(0, 1)).unwrap();
    let level = Line::through(Position::ORIGIN, Position::saturating(1, 0)).unwrap();
    let (west, east) = region().cut(&upright).unwrap();
    let quarters = [west, east].map(|it| <[_; 2]>::from(it.cut(&level).unwrap()));
    let counts = |region: &Polygon| {
        let (_, product) = run(Probe(""), Call::Populate { region }).unwrap();
        (product.writes.len(), product.timers.len(), product.letters.len())
    };
    let mut parts: Vec<_> = quarters.as_flattened().iter().map(counts).collect();
    parts.sort_unstable();
    assert_eq!(
        parts,
        [(0, 0, 1), (0, 0, 1), (0, 0, 1), (1, 1, 3)],
        "letters to the world are kept in every region"
    );
}

#[test]
fn a_panic_in_any_question_has_a_safe_answer() {
    let (motion, a) = (Motion::default(), bytes("a"));
    let panicked = |name: &str| Err(CallError::Fault(format!("the game panicked: {name} is broken")));
    assert_eq!(Hosted(Probe("allows")).allows(&a, &motion, &motion), panicked("allows"));
    assert_eq!(Hosted(Probe("show")).show(&a, VIEWER), None);
    assert_eq!(Hosted(Probe("class")).class(&a), 0);
    assert_eq!(Hosted(Probe("relevance")).relevance(&a, &a, 0.25), 0.25);
    assert!(!Hosted(Probe("thinks")).thinks(&bytes("thinker")));
    assert_eq!(Hosted(Probe("world")).world(), None);
    let migrated = Hosted(Probe("")).migrate(1, &[]).unwrap_err();
    assert!(migrated.to_string().contains("the game panicked: migrate is broken"), "{migrated}");
}

#[test]
fn questions_are_answered_by_the_game() {
    let (rules, a, motion) = (Hosted(Probe("")), bytes("a"), Motion::default());
    assert_eq!(rules.allows(&a, &motion, &motion), Ok(()));
    assert_eq!(rules.allows(&bytes("rooted"), &motion, &motion), Err(CallError::ByGame(bytes("rooted"))));
    assert_eq!((rules.show(&a, VIEWER), rules.class(&a)), (Some(a.clone()), 7));
    assert_eq!(rules.show(&bytes("huge"), VIEWER), None, "what is shown has the limit of a state");
    assert_eq!(rules.world(), Some(bytes("world")));
    assert_eq!(rules.migrate(1, &[0]), Ok(bytes("new")));
    let care = |observer: &str| rules.relevance(&bytes(observer), &a, 0.5);
    assert_eq!([care("a"), care("eager"), care("averse"), care("nowhere")], [0.25, 1.0, 0.0, 0.5]);
}

#[test]
fn an_action_is_its_bytes_and_nothing_else() {
    assert!(act(&bytes("hello")).is_ok());
    let more = [bytes("hello"), vec![0, 0]].concat();
    assert_eq!(fault(act(&more)), "2 bytes follow after an action");
    assert!(fault(act(&[5, b'h'])).starts_with("an action does not decode: "));
    assert!(fault(act(&[])).starts_with("an action does not decode: "));
    let long = bytes(&"x".repeat(MESSAGE_MAX));
    assert_eq!(fault(act(&long)), "an action of 1026 bytes: the most is 1024");
    let letter = Call::Letter { to: Addressee::Object(A), letter: &more };
    assert_eq!(fault(run(Probe(""), letter)), "2 bytes follow after a letter");
}

#[test]
fn a_scope_is_at_most_the_range() {
    let wide =
        "Game::scope asks for 20.001 m, beyond RANGE (20 m): reach less far, send a letter, or raise RANGE";
    assert_eq!(fault(act(&bytes("too wide"))), wide);
    let far = "Game::scope asks for the area of 1 m around (20.001, 0), beyond RANGE (20 m) of its actor at (0, 0): \
               refuse it there, or send a letter to the place";
    assert_eq!(fault(act(&bytes("too far"))), far);
    let many = "Game::scope names 257 objects: the most is 256; use Scope::area";
    assert_eq!(fault(act(&bytes("too many"))), many);
}

#[test]
fn a_refusal_leaves_nothing() {
    for refused in ["no", "no after all"] {
        assert_eq!(act(&bytes(refused)), Err(CallError::ByGame(bytes("not like this"))), "{refused}");
    }
    assert_eq!(fault(act(&bytes("no, at length"))), "a refusal of 402 bytes: the most is 256");
}

/// A game that finds no object beyond its scope may refuse for that reason: its author must learn about the scope.
#[test]
fn a_fault_outranks_a_refusal() {
    assert!(fault(act(&bytes("no, but from beyond"))).starts_with("tx.spawn at (1000, 0), outside"));
}

#[test]
fn an_event_of_a_removed_object_does_not_happen() {
    for call in [
        Call::Act { actor: GONE, action: &bytes("hello") },
        Call::Think { object: GONE },
        Call::Letter { to: Addressee::Object(GONE), letter: &bytes("hello") },
        Call::Leave { avatar: GONE },
    ] {
        assert_eq!(fault(run(Probe(""), call)), "object 1.1.9 is gone");
    }
}

#[test]
fn an_avatar_is_newly_made() {
    let join = |name| run(Probe(""), Call::Join { player: PlayerId(1), name });
    let (output, product) = join("Ada").unwrap();
    assert!(product.writes.contains_key(&output.avatar.unwrap()));
    assert_eq!(join("unwelcome"), Err(CallError::ByGame(bytes("no such player"))));
    let stolen = "Game::on_join gives object 1.1.0, which it did not spawn: spawn an avatar";
    assert_eq!(fault(join("thief")), stolen);
}

#[test]
fn long_names_are_cut_and_short_pauses_are_lengthened() {
    let long = "é".repeat(99);
    let (output, product) = run(Probe(""), Call::Join { player: PlayerId(1), name: &long }).unwrap();
    let mut table = table();
    table.apply(&product);
    assert_eq!(table.0[&output.avatar.unwrap()].1, bytes(&"é".repeat(32)));
    let (output, _) = run(Probe(""), Call::Think { object: A }).unwrap();
    assert_eq!(output.think_after, Some(THINK_MIN));
}

#[test]
fn each_call_has_its_scope() {
    let (rules, table, now, region) = (Hosted(Probe("")), table(), Time::from_millis(5), region());
    let scope = |call| rules.scope(&table, now, call).unwrap();
    let east = Position::saturating(1_000, 0);
    let letter = |to| Call::Letter { to, letter: &[0] };
    let around = Scope::area(Position::ORIGIN, RANGE);
    assert_eq!(scope(Call::Populate { region: &region }), Scope::area(Position::ORIGIN, Distance::MAX));
    assert_eq!(scope(Call::Think { object: A }), around);
    assert_eq!(scope(Call::Leave { avatar: A }), around);
    assert_eq!(scope(letter(Addressee::Object(A))), around);
    assert_eq!(scope(letter(Addressee::Place(east))), Scope::area(east, RANGE));
    assert_eq!(scope(Call::Join { player: PlayerId(1), name: "" }), Scope::area(east, RANGE));
    for world in [Addressee::World, Addressee::Object(WORLD)] {
        assert_eq!(scope(letter(world)), Scope::objects([WORLD]));
    }
}
