//! A world of one host on real files: it comes back after its process is gone, and a log of another game version is
//! refused with advice.

use crate::process::{Process, config, region};
use directory::Directory;
use game::{Game, Hosted, HostedGame, MigrateError, PlayerId, Tx, Viewer};
use kosmos::Kosmos;
use machine::Time;
use serde::{Deserialize, Serialize};
use space::{Distance, Epoch, ObjectId, Polygon, Position, ZoneId};
use std::path::PathBuf;
use std::sync::Arc;
use store::{Files, Log, LogLimits, StoreError};
use zone::{Alone, Replica, ReplicaStatus};

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ecumene-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_world_comes_back_after_its_process_is_gone() {
    let folder = folder("comes-back");
    let rules: Arc<dyn HostedGame> = Arc::new(Hosted(Kosmos::new(region())));
    let mut directory = Directory::new(Time::ZERO);
    let mut left = None;
    for life in 1..=3 {
        let files = Files::open(&folder).unwrap();
        let (log, _) = Log::open(files, rules.schema(), LogLimits::default()).unwrap();
        let replica = Replica::new(config(Arc::clone(&rules)));
        let mut process =
            Process { replica, log, directory: &mut directory, now: Time::from_millis(life * 10_000) };
        process.live(30);
        if let Some((objects, head)) = left {
            assert_eq!(process.replica.state().objects.len(), objects, "life {life}");
            assert!(head < process.replica.head(), "a new leadership is a record");
        }
        process.live(3_000);
        let epoch = Epoch(life as u32);
        assert_eq!(process.replica.status(), ReplicaStatus::Primary(epoch, Alone::Yes));
        assert!(20 < process.replica.state().objects.len(), "the world is not empty");
        left = Some((process.replica.state().objects.len(), process.replica.head()));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The newer state, for which one byte is no longer enough.
#[derive(Clone, Debug, Serialize, Deserialize, postcard_schema::Schema)]
struct Wide {
    count: u64,
}

macro_rules! counter {
    ($game:ident, $state:ty, $first:expr, $migrate:item) => {
        struct $game;

        impl Game for $game {
            type State = $state;
            type Shown = u64;
            type Action = ();
            type Notice = ();
            type Refusal = ();
            type Letter = ();
            const NAME: &'static str = "counter";
            const RANGE: Distance = Distance::of_metres(10);

            fn populate(&self, tx: &mut Tx<Self>, _: &Polygon) {
                tx.spawn(&$first, Position::ORIGIN);
            }

            fn execute(&self, _: &mut Tx<Self>, _: ObjectId, (): ()) -> Result<(), ()> {
                Ok(())
            }

            fn show(&self, _: &Self::State, _: Viewer) -> Option<u64> {
                None
            }

            fn on_join(&self, _: &mut Tx<Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
                Err(())
            }

            $migrate
        }
    };
}

counter!(
    Old,
    u8,
    7,
    fn thinks(&self, _: &u8) -> bool {
        false
    }
);
counter!(
    New,
    Wide,
    Wide { count: 1 },
    fn migrate(schema: u64, bytes: &[u8]) -> Result<Wide, MigrateError> {
        let known = game::schema_hash::<Old>();
        match bytes {
            &[count] if schema == known => Ok(Wide { count: u64::from(count) }),
            _ => Err(MigrateError("no such shape".to_owned())),
        }
    }
);

#[test]
fn a_world_of_another_shape_is_refused_and_can_be_migrated() {
    let folder = folder("migrates");
    let old: Arc<dyn HostedGame> = Arc::new(Hosted(Old));
    let new: Arc<dyn HostedGame> = Arc::new(Hosted(New));
    let mut directory = Directory::new(Time::ZERO);
    let open = |schema| Log::open(Files::open(&folder).unwrap(), schema, LogLimits::default());
    let (log, _) = open(old.schema()).unwrap();
    let replica = Replica::new(config(Arc::clone(&old)));
    let mut process = Process { replica, log, directory: &mut directory, now: Time::ZERO };
    process.live(100);
    let saved = process.replica.state().objects.len();
    drop(process);

    let refused = open(new.schema()).err().unwrap();
    assert!(matches!(refused, StoreError::Schema { .. }));
    let text = refused.to_string();
    assert!(text.contains("migrate") && text.contains("--fresh"), "{text}");

    let files = Files::open(&folder).unwrap();
    let (mut log, opened) = Log::open_to_migrate(files, new.schema(), LogLimits::default()).unwrap();
    let found = opened.schema.unwrap();
    let (index, snapshot) = zone::migrate::migrate(ZoneId(1), &opened.recalled, found, &*new).unwrap();
    log.keep(index, &snapshot).unwrap();
    let replica = Replica::new(config(Arc::clone(&new)));
    let mut process = Process { replica, log, directory: &mut directory, now: Time::from_millis(1_000) };
    process.live(100);
    let states: Vec<_> = process.replica.state().objects.iter().map(|it| it.state.to_vec()).collect();
    assert_eq!((saved, states), (1, vec![vec![7]]), "7 as a wide number is still one byte");
    drop(process);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_game_that_cannot_read_it_says_so() {
    let error = Hosted(Old).migrate(1, &[0]).unwrap_err().to_string();
    assert!(error.contains("--fresh"), "{error}");
}
