//! `lab a3`: a short run must show the shape of the paper's result, and the same numbers every time.

use lab::a3::{self, A3Options, A3Results, A3Setting, Candidate, Reading, UpdateSizes, report};

/// Two sizes, two runs, four minutes: seconds of work, enough for the order of the policies.
fn small(change: impl FnOnce(&mut A3Options)) -> (A3Setting, A3Results) {
    let mut options =
        A3Options { avatars: vec![25, 60], minutes: 4.0, runs: 2, ..A3Options::paper(Reading::Fitted) };
    change(&mut options);
    let setting = A3Setting::new(&options).unwrap();
    let results = a3::measure(&setting, &Candidate::of_the_paper(), &|| ()).unwrap();
    (setting, results)
}

fn scratch(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("ecumene-a3-{name}-{}", std::process::id()))
}

fn average(results: &A3Results, avatars: u32, policy: &str) -> f64 {
    results.rows.iter().find(|it| (it.avatars, it.policy.as_str()) == (avatars, policy)).unwrap().average
}

#[test]
fn without_management_traffic_is_what_arithmetic_says() {
    let (_, results) = small(|_| ());
    for avatars in [25, 60] {
        // All avatars but the observer, 100 bytes every 260 ms: due after 250, checked every 10.
        let expected = f64::from(avatars - 1) * 100.0 / 0.26;
        let measured = average(&results, avatars, "none");
        assert!((measured / expected - 1.0).abs() < 0.003, "{avatars} avatars: {measured}, not {expected}");
    }
}

#[test]
fn a_slower_check_sends_less() {
    let (_, results) = small(|it| (it.minutes, it.check) = (1.0, 100));
    // Due after 250 ms, checked every 100: every 300.
    let expected = 24.0 * 100.0 / 0.3;
    assert!((average(&results, 25, "none") / expected - 1.0).abs() < 0.01, "{:?}", results.rows[0]);
}

#[test]
fn no_second_is_below_the_average() {
    for minutes in [0.0584, 0.0667, 1.0] {
        let (_, results) = small(|it| (it.minutes, it.runs) = (minutes, 1));
        for row in &results.rows {
            assert!(
                row.average <= row.maximum && row.maximum <= 4.0 * 100.0 * f64::from(row.avatars),
                "{row:?}"
            );
        }
    }
}

#[test]
fn nothing_is_not_a_number() {
    for change in [
        |it: &mut A3Options| it.angle = 0.0,
        |it: &mut A3Options| (it.view, it.critical) = (0.0, 0.0),
        |it: &mut A3Options| it.world = Some(1e6),
    ] {
        let (_, results) = small(|it| {
            (it.minutes, it.runs) = (0.2, 1);
            change(it);
        });
        let json = report::json(&results);
        let may_lack = ["average_with_headers", "maximum_with_headers", "paper_average", "paper_maximum"];
        let may_lack = may_lack.into_iter().chain(["correlation", "paper_correlation"]);
        let numbers = may_lack.fold(json, |text, it| text.replace(&format!("\"{it}\": null"), ""));
        assert!(!numbers.contains("null") && !report::tables(&results).contains("NaN"), "{numbers}");
    }
}

#[test]
fn each_refinement_saves() {
    let (_, results) = small(|_| ());
    for avatars in [25, 60] {
        let of = |policy| average(&results, avatars, policy);
        assert!(of("a3") < of("field-of-view") && of("a3") < of("circle-attenuated"));
        assert!(of("circle-attenuated") < of("circle") && of("field-of-view") < of("circle"));
        assert!(of("circle") < of("none"));
    }
    assert!((75.0..90.0).contains(&results.savings.average["none"]), "{:?}", results.savings);
}

#[test]
fn the_stated_square_cannot_give_the_tables() {
    // As long as the paper's run: slow walkers need time to get elsewhere.
    let (_, results) =
        small(|it| (it.reading, it.minutes, it.avatars) = (Reading::Stated, 20.0, vec![25, 50]));
    let share = |world: f64| results.squares.iter().find(|it| it.world == world).unwrap().circle_share;
    assert!(share(a3::STATED_WORLD) < 0.2, "{:?}", results.squares);
    assert!((0.35..0.65).contains(&share(a3::FITTED_WORLD)), "{:?}", results.squares);
    assert!(
        report::verdicts(&results).iter().any(|it| !it.holds),
        "with the stated square, claims must fail"
    );
}

#[test]
fn policies_share_their_walks() {
    let (_, results) = small(|it| it.avatars = vec![25, 30, 35, 40, 45]);
    assert_eq!(results.together.len(), 6);
    // These two do not depend on the headings of avatars, which even out in longer runs only.
    let circles = &results.together[0];
    assert_eq!((circles.policy.as_str(), circles.other.as_str()), ("circle", "circle-attenuated"));
    assert!(0.8 < circles.correlation.unwrap() && circles.paper_correlation.is_none(), "{circles:?}");
    let (_, two) = small(|it| it.minutes = 0.2);
    assert!(two.together.iter().all(|it| it.correlation.is_none()), "two points always lie on a line");
    assert!(!report::tables(&two).contains("same walks"));
}

#[test]
fn one_seed_one_result_on_any_number_of_threads() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let first = alone.install(|| report::json(&small(|it| it.minutes = 0.5).1));
    let second = report::json(&small(|it| it.minutes = 0.5).1);
    assert_eq!(first, second);
    let other = report::json(&small(|it| (it.minutes, it.seed) = (0.5, 2)).1);
    assert_ne!(first, other);
}

#[test]
fn a_player_that_turns_round_already_knows_what_is_close() {
    let (_, results) = small(|_| ());
    let close = |policy: &str| results.turns.iter().find(|it| it.policy == policy).unwrap().close;
    // A³ keeps the close area behind the player fresh; only an avatar that has just entered it is unknown.
    assert!(close("a3").mean_ms < 1.0 && close("a3").p50_ms == 0, "{:?}", close("a3"));
    // One link delay until the server learns of the turn, one for its answer; no wait if no avatar was close behind.
    let blind = close("field-of-view");
    assert!((100..=120).contains(&blind.max_ms) && 25.0 <= blind.mean_ms, "{blind:?}");
    assert!(
        blind.p50_ms < blind.max_ms,
        "the server looks up to 10 ms later, not always equally late: {blind:?}"
    );
    // Avatars farther away that were behind are unknown under both.
    for policy in ["a3", "field-of-view"] {
        let all = results.turns.iter().find(|it| it.policy == policy).unwrap().all;
        assert!((50.0..=150.0).contains(&all.mean_ms), "{policy}: {all:?}");
    }
}

#[test]
fn rarer_updates_mean_older_knowledge() {
    let (_, results) = small(|_| ());
    let far =
        |policy: &str| results.quality.iter().find(|it| it.policy == policy).unwrap().bands[3].age_mean_ms;
    assert!(far("none") < 200.0 && far("circle") < 400.0);
    let unmanaged = &results.quality[0].bands[0];
    // The link takes 50 ms, and updates come every 260: between 50 and 310, each age as often as any other.
    assert!((173.0..187.0).contains(&unmanaged.age_mean_ms) && unmanaged.age_p99_ms <= 320, "{unmanaged:?}");
    // A client that is told of every change of course is never far off.
    assert!(unmanaged.error_mean_m < 0.05 && unmanaged.unknown_percent == 0.0, "{unmanaged:?}");
    assert!(1.5 * far("circle") < far("a3"), "circle {} a3 {}", far("circle"), far("a3"));
}

#[test]
fn our_encoding_is_smaller_than_the_papers_sizes() {
    let (_, paper) = small(|it| it.minutes = 1.0);
    let (_, wire) = small(|it| (it.minutes, it.sizes) = (1.0, UpdateSizes::Wire));
    assert!(!wire.options.comparable && wire.rows.iter().all(|it| it.paper_average.is_none()));
    for (paper, wire) in paper.rows.iter().zip(&wire.rows) {
        let with_headers = wire.average_with_headers.unwrap();
        assert!(
            wire.average < 0.35 * paper.average,
            "{}: {} and {}",
            wire.policy,
            wire.average,
            paper.average
        );
        assert!(wire.average < with_headers && with_headers < 1.2 * paper.average, "{wire:?}");
    }
    assert!(report::verdicts(&wire).is_empty(), "the paper's claims do not apply to our sizes");
    assert_eq!(wire.squares, paper.squares, "the square that fits its tables does not depend on the sizes");
}

#[test]
fn the_report_is_complete_and_draws_added_policies() {
    let directory = scratch("report");
    let options = A3Options { avatars: vec![5], minutes: 0.2, runs: 1, ..A3Options::paper(Reading::Fitted) };
    let setting = A3Setting::new(&options).unwrap();
    let mut candidates = Candidate::of_the_paper();
    let circle = |it: &A3Setting| Ok(interest::policies::Circle::new(it.critical));
    candidates.push(Candidate::new("only <close>", circle));
    let results = a3::measure(&setting, &candidates, &|| ()).unwrap();
    report::write(&directory, &setting, &candidates, &results).unwrap();
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
    let page = read("report.html");
    assert_eq!(page.matches("class=\"area\"").count(), 6);
    assert!(page.contains("only &lt;close&gt;") && !page.contains("only <close>"), "names are escaped");
    for figure in ["average.svg", "maximum.svg", "squares.svg"] {
        assert!(read(figure).contains("</svg>") && page.contains(&read(figure)), "{figure}");
    }
    assert_eq!(read("rows.csv").lines().count(), 1 + 6);
    assert_eq!(read("results.json"), report::json(&results));
    let tables = report::tables(&results);
    let saved = tables.split("What A³ saves").nth(1).unwrap().split("What the saving costs").next().unwrap();
    assert!(
        saved.contains("only <close>"),
        "the saving is shown also for policies that the paper does not have: {saved}"
    );
    let left = std::fs::read_dir(&directory)
        .unwrap()
        .filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0, "no probe and no part of a file stays behind");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn the_papers_claims_apply_only_to_what_it_tried() {
    let (_, results) = small(|it| (it.minutes, it.runs) = (0.1, 1));
    assert!(report::verdicts(&results).is_empty() && report::misfit(&results).is_none());
    // A list of candidates without the paper's.
    let setting =
        A3Setting::new(&A3Options { minutes: 0.1, runs: 1, ..A3Options::paper(Reading::Fitted) }).unwrap();
    for candidates in [vec![Candidate::circle()], vec![]] {
        let results = a3::measure(&setting, &candidates, &|| ()).unwrap();
        assert!(report::verdicts(&results).is_empty() && report::misfit(&results).is_none());
        assert!(report::tables(&results).contains("Average"));
        let directory = scratch("own");
        report::write(&directory, &setting, &candidates, &results).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }
}

#[test]
fn the_papers_own_numbers_pass_their_own_verdicts() {
    let (_, mut results) = small(|it| (it.minutes, it.runs, it.avatars) = (0.1, 1, vec![25, 50]));
    assert!(!report::failures(&results).is_empty(), "seconds of walking do not give the paper's savings");
    for policy in &a3::paper::POLICIES[..4] {
        let (average, maximum) = a3::paper::savings(policy).unwrap();
        results.savings.average.insert((*policy).into(), average);
        results.savings.maximum.insert((*policy).into(), maximum);
    }
    results.attenuation_saves.average = a3::paper::ATTENUATION_SAVES.0;
    results.rows.iter_mut().for_each(|it| it.average = it.paper_average.map_or(it.average, f64::from));
    assert_eq!(report::failures(&results), []);
    assert_eq!(report::misfit(&results), Some(0.0));
}
