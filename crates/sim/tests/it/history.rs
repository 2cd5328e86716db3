//! One seed, one history.

use crate::probe::*;
use machine::{Address, Lane, Rng, Span, Time};
use sim::{Profile, ProfileError, Sim, echo};

fn rough() -> Result<Profile, ProfileError> {
    let profile = Profile::new(Span::from_millis(5)).with_jitter(Span::from_millis(20));
    Ok(profile.with_loss(0.2)?.with_rate(5_000)?.with_queue_limit(400))
}

/// Jitter, loss, a rate and new links at once; the hash after each millisecond.
fn rough_run(seed: u64) -> Vec<u64> {
    let profile = rough().expect("the numbers are in range");
    let (mut sim, mut rng, mut hashes) = (trio(seed, profile), Rng::seeded(seed), Vec::new());
    for at in (0..2_000).step_by(20) {
        for _ in 0..rng.below(8) {
            let lane = if rng.coin() { Lane::Sure } else { latest(rng.below(3)) };
            let bytes = vec![rng.below(256) as u8; rng.below(100) as usize];
            sim.command(ms(at), A, ProbeCommand::Send(vec![B, C], lane, bytes));
        }
        sim.command(ms(at + rng.below(9)), B, ProbeCommand::SetDeadline(Some(ms(at + rng.below(40)))));
        if rng.below(10) == 0 {
            sim.connect(A, C, profile);
        }
        for now in at + 1..=at + 20 {
            sim.run_until(ms(now));
            hashes.push(sim.history());
        }
    }
    hashes
}

#[test]
fn one_seed_one_history() {
    for seed in 0..16 {
        let (first, second) = (rough_run(seed), rough_run(seed));
        let split = first.iter().zip(&second).position(|(a, b)| a != b);
        assert_eq!(split, None, "seed {seed}: histories part at millisecond {split:?}");
    }
}

#[test]
fn echoes_agree_and_seeds_differ() {
    let runs: Vec<_> = (0..16).map(|seed| echo::run(seed, 20, 5_000)).collect();
    for (seed, run) in (0..).zip(&runs) {
        assert_eq!(echo::run(seed, 20, 5_000), *run);
        assert_eq!(runs.iter().filter(|it| it.history == run.history).count(), 1, "seed {seed}");
    }
}

#[test]
fn a_seed_counts_only_through_chance() {
    let run = |seed| {
        let mut sim = trio(seed, Profile::new(Span::from_millis(5)));
        send(&mut sim, ms(1), Lane::Sure, &[1]);
        finish(&mut sim);
        sim.history()
    };
    assert_eq!(run(1), run(2));
}

/// The history of three probes, all linked to each other; each is woken at 1 ms.
fn history_of(prepare: impl FnOnce(&mut Sim<ProbeMachine>)) -> u64 {
    let mut sim = trio(1, Profile::new(Span::from_millis(5)));
    sim.connect(B, C, Profile::new(Span::from_millis(5)));
    prepare(&mut sim);
    [A, B, C].into_iter().for_each(|it| sim.wake(ms(1), it));
    finish(&mut sim);
    sim.history()
}

/// The history in which one probe carries out a command when it is woken. The command itself enters no history, so
/// that only its effects count.
fn history_of_doing(who: Address, what: ProbeCommand) -> u64 {
    history_of(|sim| sim.machine_mut(who).on_wake = Some(what))
}

fn sends(to: Address, bytes: &[u8]) -> ProbeCommand {
    ProbeCommand::Send(vec![to], Lane::Sure, bytes.to_vec())
}

#[test]
fn a_wake_that_changes_nothing_is_history() {
    assert_ne!(history_of(|_| ()), history_of(|sim| sim.wake(ms(1), A)));
}

#[test]
fn the_content_of_a_command_is_history() {
    // To the driver both mean the same: no deadline.
    let with_deadline = |at| history_of(|sim| sim.command(ms(2), A, ProbeCommand::SetDeadline(at)));
    assert_ne!(with_deadline(None), with_deadline(Some(Time::MAX)));
}

#[test]
fn a_raised_event_is_history() {
    assert_ne!(history_of_doing(A, ProbeCommand::Raise(1)), history_of_doing(A, ProbeCommand::Raise(2)));
}

#[test]
fn the_content_of_a_message_is_history() {
    assert_ne!(history_of_doing(A, sends(B, &[1])), history_of_doing(A, sends(B, &[2])));
}

#[test]
fn the_sender_of_a_message_is_history() {
    assert_ne!(history_of_doing(A, sends(B, &[1])), history_of_doing(C, sends(B, &[1])));
}

#[test]
fn a_message_to_an_unused_address_is_history() {
    let (unused, largest) = (Address(8), Address(u64::MAX));
    let hashes = [
        history_of(|_| ()),
        history_of_doing(A, sends(unused, &[1])),
        history_of_doing(A, sends(unused, &[2])),
        history_of_doing(A, sends(largest, &[1])),
    ];
    for (place, one) in hashes.iter().enumerate() {
        assert!(!hashes[..place].contains(one), "two runs share a history: {hashes:x?}");
    }
}

#[test]
fn histories_never_change() {
    // Golden: a hash written down beside a seed must hold on every platform.
    assert_eq!(echo::run(1, 10, 1_000).history, 11_409_594_753_345_193_802);
    assert_eq!(rough_run(1).last(), Some(&2_387_323_614_374_402_358));
}
