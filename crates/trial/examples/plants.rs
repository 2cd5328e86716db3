use trial::plants::*;
fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    for it in PLANTED.iter().filter(|it| only.is_empty() || only.iter().any(|o| o == it.name)) {
        let start = std::time::Instant::now();
        match it.hunt(1..=100) {
            Some(found) => println!(
                "{:<20} seed {:>3} {} [{:?}]",
                it.name,
                found.options.seed,
                found.violations[0],
                start.elapsed()
            ),
            None => println!("{:<20} NOT FOUND [{:?}]", it.name, start.elapsed()),
        }
    }
}
