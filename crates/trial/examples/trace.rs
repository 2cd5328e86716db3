use trial::*;
fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|it| it.parse().unwrap()).collect();
    let options = Options::drawn(args[0], &Asked::EVERYTHING);
    let it = run_with(options, plan::drawn(&options), Some(args[1] as usize));
    for line in &it.trace {
        println!("{}", line);
    }
    for f in &it.faults {
        println!("{f}");
    }
    for v in it.violations.iter().take(3) {
        println!("   {v}");
    }
}
