//! Each planted bug is noticed. (`ecumene sim zone --plant all` looks at more seeds.)

use trial::plants::PLANTED;

#[test]
fn somebody_notices_every_planted_bug() {
    for planted in &PLANTED {
        let found = planted.hunt(1..=100);
        assert!(found.is_some(), "nobody noticed {} in 100 seeds", planted.name);
    }
}

#[test]
fn names_of_planted_bugs_are_unique() {
    let mut names: Vec<_> = PLANTED.iter().map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), zone::Plant::ALL.len());
}
