use trial::*;
fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|it| it.parse().unwrap()).collect();
    let none = args.get(2) == Some(&0);
    for seed in args[0]..args[1] {
        let asked =
            if none { Asked { kinds: fault::Kinds::NONE, ..Asked::EVERYTHING } } else { Asked::EVERYTHING };
        let start = std::time::Instant::now();
        let it = run(seed, &asked);
        println!(
            "seed {seed} players {} {:?} {} s, events {}, {:?}, game faults {} in {:?}; kinds {}",
            it.options.players,
            it.options.durability,
            it.simulated.as_millis() / 1000,
            it.events,
            it.tally,
            it.game_faults,
            start.elapsed(),
            it.options.kinds
        );
        for v in it.violations.iter().take(3) {
            println!("   {v}");
        }
    }
}
