//! Tests of deer, hounds, nests, and of filling a world.

use crate::test_world::KosmosTestWorld;
use game::{Addressee, Call, Solo};
use kosmos::config::{HATCH_AFTER, ITEM_AREA, NPC_AREA, NPC_PAUSE};
use kosmos::{Kosmos, Letter, NpcKind, State};
use machine::{Span, Time};
use space::{Polygon, Position, Velocity};

#[test]
fn deer_flee_and_hounds_follow() {
    let mut test_world = KosmosTestWorld::new();
    let (deer, hound) =
        (test_world.npc(NpcKind::Deer, (10_000, 0)), test_world.npc(NpcKind::Hound, (-10_000, 0)));
    test_world.avatar("ann", (0, 0));
    for npc in [deer, hound] {
        let (after, product) = test_world.think(npc);
        assert_eq!(after, Some(NPC_PAUSE));
        assert!(product.is_only_moves(), "a course is no event");
        assert_eq!(test_world.motion(npc).velocity, Velocity::new(3_000, 0).unwrap());
    }
    test_world.now += Span::from_secs(3);
    test_world.think(hound);
    assert_eq!(test_world.motion(hound).velocity, Velocity::ZERO, "it heels");
}

#[test]
fn an_npc_never_walks_out_of_the_world() {
    let mut test_world = KosmosTestWorld::new();
    let deer = test_world.npc(NpcKind::Deer, (195_000, 195_000));
    test_world.avatar("ann", (190_000, 190_000));
    for _ in 0..500 {
        test_world.think(deer);
        test_world.now += NPC_PAUSE;
        let place = test_world.place(deer);
        assert!(place.x() <= 200_000 && place.y() <= 200_000, "{place}");
    }
}

#[test]
fn a_nest_hatches_when_its_time_has_come() {
    let mut test_world = KosmosTestWorld::new();
    let place = Position::new(7, 7).unwrap();
    test_world.letter(Addressee::Place(place), Letter::Brood(NpcKind::Hound));
    let [(nest, at, Letter::Hatch)] = test_world.timers[..] else { panic!("{:?}", test_world.timers) };
    assert_eq!((test_world.get(nest), at), (Some(State::Nest(NpcKind::Hound)), test_world.now + HATCH_AFTER));
    test_world.letter(Addressee::Object(nest), Letter::Hatch);
    assert!(matches!(test_world.get(nest), Some(State::Npc(npc)) if npc.kind == NpcKind::Hound));
    assert_eq!(test_world.place(nest), place);
}

fn square(half_metres: f64) -> Polygon {
    let corner = |metres| Position::from_metres(metres, metres).unwrap();
    Polygon::rectangle(corner(-half_metres), corner(half_metres)).unwrap()
}

#[test]
fn a_world_of_any_size_is_filled_evenly() {
    for half in [50.0, 200.0, 1_000.0] {
        let world = square(half);
        let mut solo = Solo::in_region(Kosmos::new(world.clone()), 3, &world);
        solo.advance(Span::from_millis(15));
        let count =
            |pick: fn(&State) -> bool| solo.objects().filter(|&it| pick(&solo.get(it).unwrap())).count();
        let items = count(|it| matches!(it, State::Item(_))) as f64;
        let npcs = count(|it| matches!(it, State::Npc(_))) as f64;
        let area = world.area_f64() / 1e6;
        let near = |got: f64, each: u64| {
            let wanted = area / each as f64;
            (got - wanted).abs() <= 0.1 * wanted + 3.0
        };
        assert!(near(items, ITEM_AREA) && near(npcs, NPC_AREA), "{items} items and {npcs} NPCs on {area} m²");
        assert!(solo.objects().all(|it| world.contains(solo.position(it).unwrap())));
    }
}

#[test]
fn a_world_that_is_no_square_is_filled_inside() {
    let corners = [(0, 0), (300_000, 0), (0, 300_000)].map(|(x, y)| Position::new(x, y).unwrap());
    let world = Polygon::new(&corners).unwrap();
    let mut solo = Solo::in_region(Kosmos::new(world.clone()), 3, &world);
    solo.advance(Span::from_millis(15));
    assert!(30 < solo.objects().count());
    assert!(solo.objects().all(|it| world.contains(solo.position(it).unwrap())));
}

#[test]
fn a_large_world_is_filled_by_letters_only() {
    let mut test_world = KosmosTestWorld::new();
    test_world.now = Time::ZERO;
    test_world.call(Call::Populate { region: &square(200.0) }).unwrap();
    assert_eq!((test_world.letters.len(), test_world.table.0.len()), (25, 1));
}
