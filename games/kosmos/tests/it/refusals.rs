//! Every refusal can happen, and has a text for players.

use crate::test_world::KosmosTestWorld;
use game::{Call, CallError, HostedGame};
use kosmos::config::{AVATAR_SPEED, TEXT_MAX};
use kosmos::{Action, ItemKind, Refusal, State};
use space::{Epoch, Heading, Millis, Motion, ObjectId, Velocity, ZoneId};

#[test]
fn missing_objects_are_gone_and_far_ones_too_far() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let far = test_world.item(ItemKind::Gem, (150_000, 0));
    let nothing = ObjectId { zone: ZoneId(77), epoch: Epoch(7), counter: 7 };
    assert_eq!(test_world.act(ann, Action::PickUp { item: nothing }), Err(Refusal::Gone));
    assert_eq!(test_world.act(ann, Action::PickUp { item: game::WORLD }), Err(Refusal::Gone));
    assert_eq!(test_world.act(ann, Action::PickUp { item: ann }), Err(Refusal::Gone));
    assert_eq!(test_world.act(ann, Action::PickUp { item: far }), Err(Refusal::TooFar));
}

/// An action that takes locks in two zones and is refused then would cost an honest player in the other zone its time.
#[test]
fn what_the_own_avatar_forbids_is_refused_before_any_lock_is_asked_for() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let scope = |test_world: &KosmosTestWorld, action: Action| {
        let action = postcard::to_stdvec(&action).unwrap();
        let call = Call::Act { actor: ann, action: &action };
        test_world.rules.scope(&test_world.table, test_world.now, call).map(drop)
    };
    let refused = |why: Refusal| Err(CallError::ByGame(postcard::to_stdvec(&why).unwrap()));
    let fire = || Action::Fire { heading: Heading::EAST };
    assert_eq!(scope(&test_world, fire()), Ok(()));
    assert_eq!(test_world.act(ann, fire()), Ok(()));
    assert_eq!(scope(&test_world, fire()), refused(Refusal::Cooldown));
    assert_eq!(scope(&test_world, Action::Drop { slot: 0 }), refused(Refusal::NoSuchSlot));
    test_world.give(ann, ItemKind::Gem);
    assert_eq!(scope(&test_world, Action::Drop { slot: 0 }), Ok(()));
    test_world.change(ann, |it| it.health = 0);
    assert_eq!(scope(&test_world, Action::Drop { slot: 0 }), refused(Refusal::Dead));
}

#[test]
fn long_texts_are_refused() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let say = |length| Action::Say { text: "x".repeat(length) };
    assert_eq!(test_world.act(ann, say(TEXT_MAX)), Ok(()));
    assert_eq!(test_world.act(ann, say(TEXT_MAX + 1)), Err(Refusal::TooLong));
    assert_eq!(Refusal::TooLong.to_string(), format!("too long: say it in at most {TEXT_MAX} bytes"));
}

#[test]
fn moves_above_the_top_speed_are_refused() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let before = test_world.motion(ann);
    let speed = AVATAR_SPEED.millimetres() as i32;
    let after = |speed| Motion {
        velocity: Velocity::new(speed, 0).unwrap(),
        start: Millis(before.start.0 + 100),
        sequence: 1,
        ..before
    };
    let state = postcard::to_stdvec(&State::Avatar(test_world.avatar_state(ann))).unwrap();
    assert_eq!(test_world.rules.allows(&state, &before, &after(speed)), Ok(()));
    let refused = postcard::to_stdvec(&Refusal::TooFast).unwrap();
    assert_eq!(test_world.rules.allows(&state, &before, &after(2 * speed)), Err(CallError::ByGame(refused)));
}

#[test]
fn only_avatars_act_and_walk() {
    let mut test_world = KosmosTestWorld::new();
    let gem = test_world.item(ItemKind::Gem, (0, 0));
    assert_eq!(test_world.act(gem, Action::Fire { heading: Heading::EAST }), Err(Refusal::NoAvatar));
    let state = postcard::to_stdvec(&test_world.get(gem).unwrap()).unwrap();
    let refused = postcard::to_stdvec(&Refusal::NoAvatar).unwrap();
    let motion = test_world.motion(gem);
    assert_eq!(test_world.rules.allows(&state, &motion, &motion), Err(CallError::ByGame(refused)));
}

#[test]
fn bytes_that_are_no_action_are_refused() {
    let mut test_world = KosmosTestWorld::new();
    let actor = test_world.avatar("ann", (0, 0));
    for action in [&[][..], &[200, 1, 2], &[4, 0], &[0xff; 2_000]] {
        let verdict = test_world.rules.scope(&test_world.table, test_world.now, Call::Act { actor, action });
        assert!(matches!(verdict, Err(CallError::Fault(_))), "{action:?}");
    }
    assert_eq!(test_world.act(actor, Action::WithdrawOffer), Ok(()));
}
