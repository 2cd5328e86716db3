//! Real files: the same changes leave the same bytes as in memory, and two processes do not share a folder.

use crate::bench::{SCHEMA, SMALL};
use crate::crash::sample_changes;
use crate::model::LogModel;
use std::fs;
use std::path::PathBuf;
use store::{Files, Log, Media, MediaError, MemoryDisk};

/// An empty folder for one test only.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("store").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Makes the sample changes, opening the log anew before each, and returns the contents of the medium.
fn run_sample_changes<M: Media>(mut media: M) -> Vec<(String, Vec<u8>)> {
    let mut model = LogModel::default();
    for change in sample_changes() {
        let (mut log, opened) = Log::open(media, SCHEMA, SMALL).unwrap();
        assert_eq!(LogModel::from(opened.recalled), model);
        model.ask(&change, &mut log).unwrap();
        model = model.outcomes(&change).pop().unwrap();
        assert_eq!(log.recall().map(LogModel::from), Ok(model.clone()));
        media = log.into_media();
    }
    let names = media.list().unwrap().into_iter();
    names.map(|name| (name.clone(), media.read(&name).unwrap())).collect()
}

#[test]
fn a_folder_and_memory_hold_the_same_bytes() {
    let files = Files::open(folder("same")).unwrap();
    assert_eq!(run_sample_changes(files), run_sample_changes(MemoryDisk::new()));
}

/// [store-09] The folder is locked.
#[test]
fn one_process_at_a_time() {
    let folder = folder("lock");
    let first = Files::open(&folder).unwrap();
    let refused = Files::open(&folder).unwrap_err();
    assert_eq!(refused, MediaError::Locked(folder.display().to_string()));
    assert!(refused.to_string().contains("stop that one first"), "{refused}");
    drop(first);
    Files::open(&folder).unwrap();
}

#[test]
fn files_fail_like_memory() {
    let mut files = Files::open(folder("errors")).unwrap();
    let mut memory = MemoryDisk::new();
    for media in [&mut files as &mut dyn Media, &mut memory] {
        media.create("a").unwrap();
        media.append("a", b"12345").unwrap();
        media.truncate("a", 2).unwrap();
        media.append("a", b"678").unwrap();
        assert_eq!(media.read("a").unwrap(), b"12678");
        assert!(matches!(media.create("a"), Err(MediaError::Exists(_))));
        assert!(matches!(media.read("b"), Err(MediaError::Missing(_))));
        assert!(matches!(media.append("b", b""), Err(MediaError::Missing(_))));
        assert!(matches!(media.truncate("b", 0), Err(MediaError::Missing(_))));
        assert!(matches!(media.sync("b"), Err(MediaError::Missing(_))));
        assert!(matches!(media.rename("b", "c"), Err(MediaError::Missing(_))));
        assert!(matches!(media.remove("b"), Err(MediaError::Missing(_))));
        media.rename("a", "b").unwrap();
        media.sync("b").unwrap();
        media.sync_names().unwrap();
        assert_eq!(media.list().unwrap(), ["b"]);
    }
}

#[test]
fn sub_folders_are_ignored() {
    let folder = folder("inside");
    let files = Files::open(&folder).unwrap();
    fs::create_dir(folder.join("log-00000000000000000001")).unwrap();
    assert_eq!(files.list().unwrap(), Vec::<String>::new());
}
