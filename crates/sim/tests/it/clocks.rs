//! Hosts whose clocks are not the simulation's.

use crate::probe::*;
use machine::{Address, Input, Machine, Outbox, Rng, Span, Time};
use sim::Sim;
use sim::echo::Ball;

#[test]
fn a_machine_lives_by_its_own_clock() {
    let mut sim = trio(1, delay(10));
    sim.step_clock(B, Span::from_secs(100));
    sim.set_clock_rate(B, 2_000_000);
    sim.run_until(ms(50));
    assert_eq!((sim.local_time(B), sim.local_time(A)), (ms(100_100), ms(50)));
    sim.wake(ms(60), B);
    sim.command(ms(60), B, ProbeCommand::SetDeadline(Some(ms(100_200))));
    sim.command(ms(60), B, ProbeCommand::Raise(1));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["100000 up 0 #1", "100120 wake", "100200 wake"]);
    assert_eq!(sim.now(), ms(100)); // Where B's clock came to its deadline.
    assert_eq!(sim.raised().map(|it| it.at).collect::<Vec<_>>(), [ms(60)]); // The simulation's time.
}

#[test]
fn a_deadline_follows_a_clock_that_changes_its_rate() {
    for (rate, woken) in [(4_000_000, 40), (250_000, 340)] {
        let mut sim = Sim::new(1);
        sim.add(ProbeMachine { deadline: Some(ms(100)), ..ProbeMachine::default() });
        sim.run_until(ms(20));
        sim.set_clock_rate(A, rate); // 80 ms are left on it.
        sim.run_until(ms(30));
        sim.set_clock_rate(A, rate); // Nothing new.
        assert!(sim.step());
        assert_eq!(sim.now(), ms(woken));
        finish(&mut sim);
        assert_eq!(input_lines(&sim, A), ["100 wake"]);
    }
}

#[test]
fn a_clock_that_jumps_over_a_deadline_wakes_now() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine { deadline: Some(ms(100)), ..ProbeMachine::default() });
    sim.run_until(ms(20));
    sim.step_clock(A, Span::from_secs(1));
    assert!(sim.step());
    assert_eq!(sim.now(), ms(20));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["1020 wake"]);
}

#[test]
fn a_restart_does_not_turn_the_clock_back() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine { deadline: Some(ms(1_025)), ..ProbeMachine::default() }); // It crashes before.
    sim.step_clock(A, Span::from_secs(1));
    sim.run_until(ms(20));
    sim.crash(A);
    sim.set_clock_rate(A, 500_000);
    sim.run_until(ms(40));
    sim.restart(A, ProbeMachine { deadline: Some(ms(1_040)), ..ProbeMachine::default() });
    assert!(sim.step());
    assert_eq!(input_lines(&sim, A), ["1040 wake"]);
    assert_eq!(sim.now(), ms(60)); // 20 ms at the full rate, 20 dead and 20 alive at half of it.
}

#[test]
#[should_panic(expected = "a clock that stands never comes to a deadline")]
fn a_clock_must_run() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine::default());
    sim.set_clock_rate(A, 0);
}

/// Sets a random deadline at every wake, and fails if it is woken early or twice.
struct StrictMachine {
    rng: Rng,
    now: Time,
    next: Time,
    woken: u32,
}

impl Machine for StrictMachine {
    type Msg = Ball;
    type Command = ();
    type Event = ();

    fn handle(&mut self, now: Time, input: Input<Ball, ()>, _: &mut Outbox<Ball, ()>) {
        assert!(self.now <= now, "time went back from {} to {now}", self.now);
        self.now = now;
        assert_eq!(input, Input::Wake);
        assert!(self.next <= now, "woken at {now} for {}", self.next);
        self.next = now + Span::from_micros(1 + self.rng.below(10_000));
        self.woken += 1;
    }

    fn deadline(&self) -> Option<Time> {
        Some(self.next)
    }
}

#[test]
fn no_clock_wakes_a_machine_early_or_lets_time_go_back() {
    for seed in 0..32 {
        let (mut sim, mut rng) = (Sim::new(seed), Rng::seeded(seed));
        let a: Address =
            sim.add(StrictMachine { rng: rng.fork(), now: Time::ZERO, next: Time::ZERO, woken: 0 });
        for at in (0..1_000).step_by(50) {
            sim.set_clock_rate(a, rng.between(250_000, 4_000_000) as u32);
            sim.step_clock(a, Span::from_micros(rng.below(3)));
            sim.run_until(ms(at));
        }
        let (woken, lived) = (u64::from(sim.machine(a).woken), sim.local_time(a).as_micros());
        assert_eq!(u64::from(sim.events() as u32), woken);
        // On average every 5 ms of its own time.
        assert!((lived / 6_000..lived / 4_000).contains(&woken), "seed {seed}: {woken} in {lived} µs");
    }
}
