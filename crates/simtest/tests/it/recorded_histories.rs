//! Histories that a world's processes would write, checked afterwards: the same violations as on the simulator.

use crate::tier::is_full;
use history::{DamageKind, Entry, FolderError, NamedBytes, encode};
use kosmos_scenario::KosmosScenario;
use machine::{Address, Time};
use simtest::fault::{FaultKind, FaultKinds};
use simtest::histories::{Histories, HistoryError, read_files};
use simtest::{RunOptions, RunOutcome, RunRequest, plan, run_recorded};
use zone::Durability;

type HistoryFiles = Vec<NamedBytes>;

fn recorded(seed: u64, request: &RunRequest) -> (RunOutcome, HistoryFiles) {
    let options = RunOptions::draw(seed, request);
    run_recorded(KosmosScenario, options, plan::draw(&options))
}

fn error(files: HistoryFiles) -> String {
    let checked = read_files(files).and_then(|it| it.check(&KosmosScenario));
    checked.map(drop).unwrap_err().to_string()
}

#[test]
fn files_show_the_same_violations_as_the_simulator() {
    let (mut torn, mut asked) = (0, 0);
    let last = if is_full() { 100 } else { 10 };
    for seed in 1..=last {
        let (live, mut files) = recorded(seed, &RunRequest::ZONE);
        if seed <= 3 {
            let unwritten = simtest::run(KosmosScenario, seed, &RunRequest::ZONE);
            assert_eq!(live.history, unwritten.history, "writing changes nothing");
        }
        torn += tear(&mut files);
        let histories = read_files(files).unwrap();
        let read = histories.check(&KosmosScenario).unwrap();
        assert_eq!((&read.violations, read.counts), (&live.violations, live.counts), "seed {seed}");
        assert_eq!(histories.processes as u32, 1 + 3 + live.options.players, "seed {seed}");
        assert!(read.counts.actions_acked <= read.actions_asked && 50 < read.records, "seed {seed}");
        // In the end all players were answered.
        assert!(read.unanswered.is_empty(), "seed {seed}: {:?}", read.unanswered);
        asked += read.actions_asked;
    }
    assert!(3 * last as usize <= torn && 500 * last <= asked, "{torn} {asked}");
}

/// Tears every life but the last of its process: it ends in the middle of an entry. Returns the number of torn lives.
fn tear(files: &mut HistoryFiles) -> usize {
    let names: Vec<_> = files.iter().map(|it| it.0.clone()).collect();
    let mut torn = 0;
    for (name, bytes) in files {
        let (process, life) = name.trim_end_matches(".history").rsplit_once('.').unwrap();
        let next = history::file_name(process, life.parse::<u32>().unwrap() + 1);
        if names.contains(&next) {
            let mut entry = Vec::new();
            encode(&Entry { time: Time::MAX, by: Address(0), what: history::EntryKind::Stopped }, &mut entry);
            bytes.extend_from_slice(&entry[..1 + torn % (entry.len() - 1)]);
            torn += 1;
        }
    }
    torn
}

#[test]
fn a_rollback_is_allowed_as_on_the_simulator() {
    let rolled_back = |durability, seeds: std::ops::Range<u64>, enough: u64| {
        let kinds = FaultKinds::of([FaultKind::StopAll]);
        let request = RunRequest { kinds, all_kinds: true, durability: Some(durability), ..RunRequest::ZONE };
        let mut rolled_back = 0;
        for seed in seeds {
            let (live, files) = recorded(seed, &request);
            let read = read_files(files).unwrap().check(&KosmosScenario).unwrap();
            assert_eq!((&read.violations, read.counts), (&live.violations, live.counts), "seed {seed}");
            rolled_back += read.counts.rolled_back;
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
fn files_that_cannot_be_checked_are_refused_in_a_line() {
    let request =
        RunRequest { kinds: FaultKinds::of([FaultKind::Crash]), all_kinds: true, ..RunRequest::ZONE };
    let (_, files) = recorded(3, &request);

    let mut broken = files.clone();
    let (name, bytes) = broken.iter_mut().find(|it| it.0 == "host-1.1.history").unwrap();
    assert_eq!(name, "host-1.1.history");
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    let result = read_files(broken).map(drop);
    let Err(HistoryError::Folder(FolderError::Damaged { file, damage })) = result else {
        panic!("{result:?}")
    };
    assert_eq!((file.as_str(), damage.why), ("host-1.1.history", DamageKind::Checksum));
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

    let mut another = recorded(4, &RunRequest { durability: Some(Durability::Lazy), ..request }).1;
    another.retain(|it| it.0 == "host-2.1.history");
    another[0].0 = "host-9.1.history".to_owned();
    another.extend(files);
    assert!(error(another).contains("are of different worlds or settings"));
}

#[test]
fn unanswered_actions_are_counted_by_player() {
    let request = RunRequest { kinds: FaultKinds::NONE, ..RunRequest::ZONE };
    let (_, files) = recorded(5, &request);
    let whole = read_files(files).unwrap();
    // Stopped in the middle: a player waits for an answer.
    let open = |end: usize| {
        let Histories { zones, processes, lives, torn, ref entries } = whole;
        let cut =
            Histories { zones: zones.clone(), processes, lives, torn, entries: entries[..end].to_vec() };
        cut.check(&KosmosScenario).unwrap()
    };
    let said = |it: &Entry| matches!(it.what, history::EntryKind::Said(zone::Note::Asked { .. }));
    let first = whole.entries.iter().position(said).unwrap();
    let report = open(first + 1);
    assert_eq!((report.actions_asked, report.unanswered.values().sum::<u64>()), (1, 1));
    assert!(report.violations.is_empty(), "a run may be stopped");
}
