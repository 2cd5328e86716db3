//! Deer, hounds, nests, and how a world is filled.

use crate::stage::Stage;
use game::{Addressee, Call, Solo};
use kosmos::config::{HATCH_AFTER, ITEM_AREA, NPC_AREA, NPC_PAUSE};
use kosmos::{Kosmos, Letter, NpcKind, State};
use machine::{Span, Time};
use space::{Polygon, Position, Velocity};

#[test]
fn deer_flee_and_hounds_follow() {
    let mut stage = Stage::new();
    let (deer, hound) = (stage.npc(NpcKind::Deer, (10_000, 0)), stage.npc(NpcKind::Hound, (-10_000, 0)));
    stage.avatar("ann", (0, 0));
    for npc in [deer, hound] {
        let (after, product) = stage.think(npc);
        assert_eq!(after, Some(NPC_PAUSE));
        assert!(product.is_only_moves(), "a course is no event");
        assert_eq!(stage.motion(npc).velocity, Velocity::new(3_000, 0).unwrap());
    }
    stage.now += Span::from_secs(3);
    stage.think(hound);
    assert_eq!(stage.motion(hound).velocity, Velocity::ZERO, "it heels");
}

#[test]
fn an_npc_never_walks_out_of_the_world() {
    let mut stage = Stage::new();
    let deer = stage.npc(NpcKind::Deer, (195_000, 195_000));
    stage.avatar("ann", (190_000, 190_000));
    for _ in 0..500 {
        stage.think(deer);
        stage.now += NPC_PAUSE;
        let place = stage.place(deer);
        assert!(place.x() <= 200_000 && place.y() <= 200_000, "{place}");
    }
}

#[test]
fn a_nest_hatches_when_its_time_has_come() {
    let mut stage = Stage::new();
    let place = Position::new(7, 7).unwrap();
    stage.letter(Addressee::Place(place), Letter::Brood(NpcKind::Hound));
    let [(nest, at, Letter::Hatch)] = stage.timers[..] else { panic!("{:?}", stage.timers) };
    assert_eq!((stage.get(nest), at), (Some(State::Nest(NpcKind::Hound)), stage.now + HATCH_AFTER));
    stage.letter(Addressee::Object(nest), Letter::Hatch);
    assert!(matches!(stage.get(nest), Some(State::Npc(npc)) if npc.kind == NpcKind::Hound));
    assert_eq!(stage.place(nest), place);
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
fn filling_is_told_by_letters_only() {
    let mut stage = Stage::new();
    stage.now = Time::ZERO;
    stage.call(Call::Populate { region: &square(200.0) }).unwrap();
    assert_eq!((stage.letters.len(), stage.table.0.len()), (25, 1));
}
