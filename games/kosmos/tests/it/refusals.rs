//! Every refusal can happen, and says something to people.

use crate::stage::Stage;
use game::{Call, Refused, Rules};
use kosmos::config::{AVATAR_SPEED, TEXT_MAX};
use kosmos::{Action, ItemKind, Refusal, State};
use space::{Epoch, Heading, Millis, Motion, ObjectId, Velocity, ZoneId};

#[test]
fn what_does_not_exist_is_gone_and_what_is_far_is_far() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let far = stage.item(ItemKind::Gem, (150_000, 0));
    let nothing = ObjectId { zone: ZoneId(77), epoch: Epoch(7), counter: 7 };
    assert_eq!(stage.act(ann, Action::PickUp { item: nothing }), Err(Refusal::Gone));
    assert_eq!(stage.act(ann, Action::PickUp { item: game::WORLD }), Err(Refusal::Gone));
    assert_eq!(stage.act(ann, Action::PickUp { item: ann }), Err(Refusal::Gone));
    assert_eq!(stage.act(ann, Action::PickUp { item: far }), Err(Refusal::TooFar));
}

#[test]
fn a_speech_is_no_remark() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let say = |length| Action::Say { text: "x".repeat(length) };
    assert_eq!(stage.act(ann, say(TEXT_MAX)), Ok(()));
    assert_eq!(stage.act(ann, say(TEXT_MAX + 1)), Err(Refusal::TooLong));
    assert_eq!(Refusal::TooLong.to_string(), format!("too long: say it in at most {TEXT_MAX} bytes"));
}

#[test]
fn nobody_walks_faster_than_all() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let before = stage.motion(ann);
    let speed = AVATAR_SPEED.millimetres() as i32;
    let after = |speed| Motion {
        velocity: Velocity::new(speed, 0).unwrap(),
        start: Millis(before.start.0 + 100),
        sequence: 1,
        ..before
    };
    let state = postcard::to_stdvec(&State::Avatar(stage.body(ann))).unwrap();
    assert_eq!(stage.rules.allows(&state, &before, &after(speed)), Ok(()));
    let refused = postcard::to_stdvec(&Refusal::TooFast).unwrap();
    assert_eq!(stage.rules.allows(&state, &before, &after(2 * speed)), Err(Refused::ByGame(refused)));
}

#[test]
fn only_avatars_act_and_walk() {
    let mut stage = Stage::new();
    let gem = stage.item(ItemKind::Gem, (0, 0));
    assert_eq!(stage.act(gem, Action::Fire { heading: Heading::EAST }), Err(Refusal::NoAvatar));
    let state = postcard::to_stdvec(&stage.get(gem).unwrap()).unwrap();
    let refused = postcard::to_stdvec(&Refusal::NoAvatar).unwrap();
    let motion = stage.motion(gem);
    assert_eq!(stage.rules.allows(&state, &motion, &motion), Err(Refused::ByGame(refused)));
}

#[test]
fn bytes_that_are_no_action_are_refused() {
    let mut stage = Stage::new();
    let actor = stage.avatar("ann", (0, 0));
    for action in [&[][..], &[200, 1, 2], &[4, 0], &[0xff; 2_000]] {
        let judged = stage.rules.scope(&stage.table, stage.now, Call::Act { actor, action });
        assert!(matches!(judged, Err(Refused::Fault(_))), "{action:?}");
    }
    assert_eq!(stage.act(actor, Action::WithdrawOffer), Ok(()));
}
