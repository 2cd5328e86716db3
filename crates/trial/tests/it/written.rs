//! What a world's processes would write down, judged afterwards: the same verdict as by somebody who was there.

use crate::tier::is_full;
use history::{Entry, FolderError, NamedBytes, Why, encode};
use kosmos_scenario::KosmosScenario;
use machine::{Address, Time};
use trial::fault::{Kind, Kinds};
use trial::histories::{Histories, HistoryError, read_files};
use trial::{Asked, Options, Outcome, plan, run_recorded};
use zone::Durability;

type Files = Vec<NamedBytes>;

fn recorded(seed: u64, asked: &Asked) -> (Outcome, Files) {
    let options = Options::drawn(seed, asked);
    run_recorded(KosmosScenario, options, plan::drawn(&options))
}

fn error(files: Files) -> String {
    let judged = read_files(files).and_then(|it| it.judged(&KosmosScenario));
    judged.map(drop).unwrap_err().to_string()
}

#[test]
fn the_same_verdict_as_by_somebody_who_was_there() {
    let (mut torn, mut asked) = (0, 0);
    let last = if is_full() { 100 } else { 10 };
    for seed in 1..=last {
        let (live, mut files) = recorded(seed, &Asked::EVERYTHING);
        if seed <= 3 {
            let unwritten = trial::run(KosmosScenario, seed, &Asked::EVERYTHING);
            assert_eq!(live.history, unwritten.history, "writing changes nothing");
        }
        torn += tear(&mut files);
        let histories = read_files(files).unwrap();
        let read = histories.judged(&KosmosScenario).unwrap();
        assert_eq!((&read.violations, read.tally), (&live.violations, live.tally), "seed {seed}");
        assert_eq!(histories.processes as u32, 1 + 3 + live.options.players, "seed {seed}");
        assert!(read.tally.actions_acked <= read.actions_asked && 50 < read.records, "seed {seed}");
        // In the end everybody was answered.
        assert!(read.unanswered.is_empty(), "seed {seed}: {:?}", read.unanswered);
        asked += read.actions_asked;
    }
    assert!(3 * last as usize <= torn && 500 * last <= asked, "{torn} {asked}");
}

/// Every life but the last of its process ends in the middle of an entry that nobody was told of.
fn tear(files: &mut Files) -> usize {
    let names: Vec<_> = files.iter().map(|it| it.0.clone()).collect();
    let mut torn = 0;
    for (name, bytes) in files {
        let (process, life) = name.trim_end_matches(".history").rsplit_once('.').unwrap();
        let next = history::file_name(process, life.parse::<u32>().unwrap() + 1);
        if names.contains(&next) {
            let mut entry = Vec::new();
            encode(&Entry { time: Time::MAX, by: Address(0), what: history::What::Stopped }, &mut entry);
            bytes.extend_from_slice(&entry[..1 + torn % (entry.len() - 1)]);
            torn += 1;
        }
    }
    torn
}

#[test]
fn a_full_stop_is_forgiven_as_by_somebody_who_was_there() {
    let rolled_back = |durability, seeds: std::ops::Range<u64>, enough: u64| {
        let kinds = Kinds::of([Kind::StopAll]);
        let asked = Asked { kinds, all_kinds: true, durability: Some(durability), ..Asked::EVERYTHING };
        let mut rolled_back = 0;
        for seed in seeds {
            let (live, files) = recorded(seed, &asked);
            let read = read_files(files).unwrap().judged(&KosmosScenario).unwrap();
            assert_eq!((&read.violations, read.tally), (&live.violations, live.tally), "seed {seed}");
            rolled_back += read.tally.rolled_back;
            if enough <= rolled_back {
                break;
            }
        }
        rolled_back
    };
    assert_eq!(rolled_back(Durability::Synced, 1..13, 1), 0);
    // Few stops lose anything: the first of these does, twice.
    let first = if is_full() { 1 } else { 33 };
    assert!(2 <= rolled_back(Durability::Batched, first..201, 2));
}

#[test]
fn what_cannot_be_judged_is_refused_in_a_line() {
    let asked = Asked { kinds: Kinds::of([Kind::Crash]), all_kinds: true, ..Asked::EVERYTHING };
    let (_, files) = recorded(3, &asked);

    let mut broken = files.clone();
    let (name, bytes) = broken.iter_mut().find(|it| it.0 == "host-1.1.history").unwrap();
    assert_eq!(name, "host-1.1.history");
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    let result = read_files(broken).map(drop);
    let Err(HistoryError::Folder(FolderError::Damaged { file, damage })) = result else {
        panic!("{result:?}")
    };
    assert_eq!((file.as_str(), damage.why), ("host-1.1.history", Why::Checksum));
    assert!(damage.offset < last && last < damage.offset + 10_000, "{damage}");

    let mut foreign = files.clone();
    foreign[0].1 = b"a letter".to_vec();
    assert_eq!(error(foreign), "directory.1.history is damaged at byte 0: this is no history");

    let without = |process: &str| files.iter().filter(|it| !it.0.starts_with(process)).cloned().collect();
    assert!(error(without("host-")).starts_with("no host wrote any of these files"));
    assert!(error(without("directory")).ends_with("the files of the directory are missing"));

    // A world whose first lives are missing.
    let later = files.iter().filter(|it| !it.0.ends_with(".1.history") || it.0.starts_with("dir"));
    let text = error(later.cloned().collect());
    assert!(text.starts_with("the history of this world does not begin at record 1: "), "{text}");
    assert_eq!(text.lines().count(), 1);

    let mut another = recorded(4, &Asked { durability: Some(Durability::Lazy), ..asked }).1;
    another.retain(|it| it.0 == "host-2.1.history");
    another[0].0 = "host-9.1.history".to_owned();
    another.extend(files);
    assert!(error(another).contains("are of different worlds or settings"));
}

#[test]
fn unanswered_actions_are_counted_by_player() {
    let asked = Asked { kinds: Kinds::NONE, ..Asked::EVERYTHING };
    let (_, files) = recorded(5, &asked);
    let whole = read_files(files).unwrap();
    // Stopped in the middle: somebody waits for an answer.
    let open = |end: usize| {
        let Histories { zones, processes, lives, torn, ref entries } = whole;
        let cut =
            Histories { zones: zones.clone(), processes, lives, torn, entries: entries[..end].to_vec() };
        cut.judged(&KosmosScenario).unwrap()
    };
    let said = |it: &Entry| matches!(it.what, history::What::Said(zone::Note::Asked { .. }));
    let first = whole.entries.iter().position(said).unwrap();
    let verdict = open(first + 1);
    assert_eq!((verdict.actions_asked, verdict.unanswered.values().sum::<u64>()), (1, 1));
    assert!(verdict.violations.is_empty(), "a run may be stopped");
}
