//! What a player may ask of a primary that is not late: too long for tables.

use super::world::BenchWorld;
use std::fmt::Write as _;

/// Steps of a player who never rests, and their length: a connection carries 60 messages per second.
const STEPS: usize = 240;
const STEP: &str = "wait 17 ms";

/// A world at rest, whose messages pass by themselves.
fn world(setup: &str) -> BenchWorld {
    let mut world = BenchWorld::new();
    setup.lines().for_each(|it| assert!(world.prepare(it), "no line of a setup: {it}"));
    world.begin();
    world.step_line("links flow");
    world.lines();
    world
}

/// Lets a player do the same again and again, for four seconds. Returns all lines.
fn does(world: &mut BenchWorld, each_step: &[&str]) -> Vec<String> {
    for _ in 0..STEPS {
        world.step_line(STEP);
        each_step.iter().for_each(|it| world.step_line(it));
    }
    world.step_line("wait 1 s");
    world.lines()
}

fn count(lines: &[String], parts: &[&str]) -> usize {
    lines.iter().filter(|line| parts.iter().all(|part| line.contains(part))).count()
}

#[test]
fn a_player_whose_actions_at_a_border_are_refused_again_and_again_pays_for_them() {
    let mut world = world("two zones\nplayer ann 3 at -14\nplayer bob 3 at -14\nobject rock 99 at 5");
    let lines = does(&mut world, &["ann acts give 2 to rock"]);
    let refused = count(&lines, &["ann hears of action", "refused"]);
    // A burst of 24, eight per second for five seconds, and the last one on credit.
    assert!((40..=65).contains(&refused), "{refused}");
    assert!(count(&lines, &["z1.a -> z2.a: lock"]) <= 2 * refused, "at most two attempts of each");
    // The rest waited, and then got an answer.
    assert_eq!(count(&lines, &["ann hears of action", "busy"]), STEPS - refused);

    // Others are not concerned, and she may go on after a rest.
    for act in ["bob acts give 1 to ann", "wait 3 s", "ann acts add 1", "wait 1 s"] {
        world.step_line(act);
    }
    let lines = world.lines();
    assert_eq!(count(&lines, &["hears of action", "done"]), 2, "{lines:?}");
}

#[test]
fn cheap_actions_wait_for_nothing() {
    let mut world = world("zone\nplayer ann 0 at 0");
    let lines = does(&mut world, &["ann acts add 0"]);
    assert_eq!(count(&lines, &["ann hears of action", "done"]), STEPS);
}

#[test]
fn words_cost_by_their_hearers() {
    let said = |players: usize| {
        let mut setup = "zone\nplayer ann 0 at 0".to_owned();
        (1..players).for_each(|it| write!(setup, "\nplayer p{it} 0 at 5").unwrap());
        let lines = does(&mut world(&setup), &["ann acts say hello", "ann acts say hello"]);
        count(&lines, &["ann hears of action", "done"])
    };
    assert_eq!(said(1), 2 * STEPS);
    // Eight hear each line, which costs two units instead of one.
    let to_eight = said(8);
    assert!((260..=340).contains(&to_eight), "{to_eight}: a burst of 120, and 40 per second");
}
