//! The last inputs, as text.

use crate::probe::*;
use machine::Lane;
use sim::Sim;

fn lines(sim: &Sim<ProbeMachine>) -> Vec<&str> {
    sim.trace_lines().collect()
}

#[test]
fn a_trace_keeps_the_newest_lines() {
    let mut sim = trio(1, delay(10));
    send(&mut sim, ms(1), Lane::Sure, &[1]);
    sim.run_until(ms(5));
    assert!(lines(&sim).is_empty());
    sim.trace(4);
    sim.wake(ms(6), C);
    sim.run_until(ms(20));
    assert_eq!(
        lines(&sim),
        [
            "0.006000s @2 Wake",
            "0.011000s @1 Recv { from: Address(0), link: LinkNumber(1), msg: ProbeMessage([1]) }"
        ]
    );
    sim.crash(C);
    sim.disconnect(A, B);
    sim.command(ms(21), A, ProbeCommand::Raise(3));
    finish(&mut sim);
    assert_eq!(
        lines(&sim),
        [
            "0.020000s @0 LinkDown { peer: Address(1), link: LinkNumber(1) }",
            "0.020000s @1 LinkDown { peer: Address(0), link: LinkNumber(1) }",
            "0.021000s @0 Command(Raise(3))",
            "5.020000s @0 LinkDown { peer: Address(2), link: LinkNumber(1) }"
        ]
    );
    sim.trace(0);
    assert!(lines(&sim).is_empty());
}

#[test]
fn faults_stand_between_inputs_and_tracing_is_no_history() {
    let run = |capacity| {
        let mut sim = trio(1, delay(10));
        sim.run_until(ms(1));
        sim.trace(capacity);
        sim.freeze(B, ms(3));
        sim.freeze(B, ms(4));
        sim.wake(ms(2), B);
        finish(&mut sim);
        (lines(&sim).join("\n"), sim.history())
    };
    let (lines, history) = run(9);
    assert_eq!(lines, "0.001000s @1 Freeze\n0.001000s @1 Freeze\n0.004000s @1 Thaw\n0.004000s @1 Wake");
    assert_eq!(run(0), (String::new(), history));
}
