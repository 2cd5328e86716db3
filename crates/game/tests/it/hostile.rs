//! Arbitrary bytes from players, logs and older versions: none of them causes a panic.

use crate::kinds::Kinds;
use crate::orchard::Orchard;
use game::machine::{Rng, Time};
use game::space::{Epoch, Motion, ObjectId, ZoneId};
use game::{
    Addressee, Call, CallError, Draft, Game, Hosted, HostedGame, NameAllocator, PlayerId, Scope, SoloTable,
    Viewer,
};
use proptest::prelude::*;

const ACTOR: ObjectId = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 0 };

fn throw<G: Game>(game: G, state: &[u8], message: &[u8]) {
    let (rules, now) = (Hosted(game), Time::from_millis(5));
    let table = SoloTable([(ACTOR, (Motion::default(), state.to_vec()))].into());
    let calls = [
        Call::Act { actor: ACTOR, action: message },
        Call::Letter { to: Addressee::Object(ACTOR), letter: message },
        Call::Letter { to: Addressee::World, letter: message },
        Call::Think { object: ACTOR },
        Call::Join { player: PlayerId(1), name: &String::from_utf8_lossy(message) },
        Call::Leave { avatar: ACTOR },
    ];
    for call in calls {
        let scope = rules.scope(&table, now, call).unwrap_or(Scope::objects([ACTOR]));
        let names = NameAllocator { zone: ZoneId(1), epoch: Epoch(2), next: 0 };
        let mut draft = Draft::new(&table, scope, call.actor(), now, Rng::seeded(1), names);
        if let Err(CallError::Fault(text)) = rules.run(&mut draft, call) {
            assert!(!text.contains("panicked"), "{text}");
        }
    }
    let viewer = Viewer { owns: false, class: rules.class(state) };
    rules.show(state, viewer);
    rules.thinks(state);
    let relevance = rules.relevance(state, message, 0.5);
    assert!((0.0..=1.0).contains(&relevance));
    if let Err(CallError::Fault(text)) = rules.allows(state, &Motion::default(), &Motion::default()) {
        assert!(!text.contains("panicked"), "{text}");
    }
    let _ = rules.migrate(1, state);
}

proptest! {
    #[test]
    fn no_bytes_panic(
        state in prop::collection::vec(any::<u8>(), 0..64),
        message in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        throw(Orchard, &state, &message);
        throw(Kinds, &state, &message);
    }

    /// Small bytes are often valid tags and lengths, so more of them decode.
    #[test]
    fn no_small_bytes_panic(
        state in prop::collection::vec(0u8..4, 0..64),
        message in prop::collection::vec(0u8..4, 0..64),
    ) {
        throw(Orchard, &state, &message);
        throw(Kinds, &state, &message);
    }
}
