//! A game for tests: all types are text, an action is a script, and any one function can be made to panic.

use game::machine::Span;
use game::space::{Distance, Motion, ObjectId, Polygon, Position};
use game::{Addressee, Game, MigrateError, PlayerId, Scope, ScopeView, Tx, Viewer};

/// A game that panics in the function of this name; in none if it is empty.
pub struct Probe(pub &'static str);

pub const RANGE: Distance = Distance::of_metres(20);

impl Probe {
    fn may_panic(&self, function: &str) {
        assert!(self.0 != function, "{function} is broken");
    }
}

/// Calls itself without end.
#[allow(unconditional_recursion, reason = "that is what it is for")]
fn nested(tx: &mut Tx<'_, '_, Probe>, object: ObjectId) -> usize {
    let frame = std::hint::black_box([tx.get(object).map_or(0, |it| it.len()); 64]);
    nested(tx, object) + frame.len()
}

impl Game for Probe {
    type State = String;
    type Shown = String;
    type Action = String;
    type Notice = String;
    type Refusal = String;
    type Letter = String;
    const NAME: &'static str = "Probe";
    const RANGE: Distance = RANGE;
    const GRADES: bool = true;

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        self.may_panic("populate");
        let thinker = tx.spawn(&"thinker".to_owned(), Position::ORIGIN);
        tx.schedule(thinker, Span::from_secs(1), &"later".to_owned());
        for to in [Addressee::Object(thinker), Addressee::Place(Position::ORIGIN), Addressee::World] {
            tx.send(to, &"hello".to_owned());
        }
    }

    fn world(&self) -> Option<String> {
        self.may_panic("world");
        Some("world".to_owned())
    }

    fn entrance(&self, _: PlayerId) -> Position {
        self.may_panic("entrance");
        Position::saturating(1_000, 0)
    }

    fn scope(&self, view: &ScopeView<'_, Self>, actor: ObjectId, action: &String) -> Result<Scope, String> {
        self.may_panic("scope");
        let place = view.position(actor).unwrap();
        let metres = |metres| Distance::from_metres(metres).unwrap();
        match action.as_str() {
            "too wide" => Ok(Scope::area(place, metres(20.001))),
            "too far" => Ok(Scope::area(Position::saturating(i64::from(place.x()) + 20_001, 0), metres(1.0))),
            "too many" => Ok(Scope::objects(vec![actor; game::config::SCOPE_MAX + 1])),
            "no" => Err("not like this".to_owned()),
            _ => Ok(Scope::area(place, Self::RANGE)),
        }
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, action: String) -> Result<(), String> {
        self.may_panic("execute");
        tx.put(actor, &action);
        match action.as_str() {
            "no after all" => Err("not like this".to_owned()),
            "no, but from beyond" => {
                tx.spawn(&action, Position::saturating(1_000_000, 0));
                Err("not like this".to_owned())
            }
            "no, at length" => Err("no".repeat(200)),
            "get for ever" => loop {
                tx.get(actor);
            },
            "look around for ever" => loop {
                tx.near(Position::ORIGIN, Distance::of_metres(1));
            },
            "draw for ever" => loop {
                tx.chance();
            },
            "nest for ever" => Err(nested(tx, actor).to_string()),
            "work hard" => {
                (0..game::config::STEPS_MAX / 2).for_each(|_| assert!(tx.position(actor).is_some()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn allows(&self, mover: &String, _: &Motion, _: &Motion) -> Result<(), String> {
        self.may_panic("allows");
        if mover == "rooted" { Err("rooted".to_owned()) } else { Ok(()) }
    }

    fn show(&self, object: &String, _: Viewer) -> Option<String> {
        self.may_panic("show");
        if object == "huge" { Some("x".repeat(5_000)) } else { Some(object.clone()) }
    }

    fn class(&self, _: &String) -> u8 {
        self.may_panic("class");
        7
    }

    fn relevance(&self, observer: &String, _: &String, graded: f32) -> f32 {
        self.may_panic("relevance");
        match observer.as_str() {
            "nowhere" => f32::NAN,
            "eager" => 9.0,
            "averse" => -9.0,
            _ => graded / 2.0,
        }
    }

    fn thinks(&self, object: &String) -> bool {
        self.may_panic("thinks");
        object.contains("think")
    }

    fn think(&self, tx: &mut Tx<'_, '_, Self>, object: ObjectId) -> Option<Span> {
        self.may_panic("think");
        tx.put(object, &"think twice".to_owned());
        Some(Span::ZERO)
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, letter: String) -> Result<(), String> {
        self.may_panic("on_letter");
        let Addressee::Object(object) = to else { return Err("no such addressee".to_owned()) };
        tx.put(object, &letter);
        Ok(())
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, name: &str) -> Result<ObjectId, String> {
        self.may_panic("on_join");
        let first = tx.objects().first().copied();
        match (name, first) {
            ("thief", Some(other)) => Ok(other),
            ("unwelcome", _) => Err("no such player".to_owned()),
            _ => Ok(tx.spawn(&name.to_owned(), Position::ORIGIN)),
        }
    }

    fn on_leave(&self, tx: &mut Tx<'_, '_, Self>, avatar: ObjectId) {
        self.may_panic("on_leave");
        tx.remove(avatar);
    }

    fn migrate(_: u64, bytes: &[u8]) -> Result<String, MigrateError> {
        assert!(!bytes.is_empty(), "migrate is broken");
        Ok("new".to_owned())
    }
}
