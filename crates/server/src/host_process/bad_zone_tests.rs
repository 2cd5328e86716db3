//! Tests of a whole host, one zone of which fails or hangs.

use crate::restart::HostStuck;
use crate::stuck_calls::StuckCalls;
use crate::test_directory::TestFolder;
use crate::{ControlPlane, HostProcess, Page, ServerConfig, web};
use game::{Call, CallGuard, Game, GuardedGame, Hosted, HostedGame, PlayerId, Scope, Tx, Viewer};
use machine::Span;
use space::{Distance, ObjectId, Polygon, Position, ZoneId};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use zone::{Leadership, ReplicaStatus, Suspect, leadership_key};

/// A game whose only object stands in the western zone, and thinks.
struct Calm;

const THINKER: u8 = 1;

impl Game for Calm {
    type State = u8;
    type Shown = u8;
    type Action = u8;
    type Notice = u8;
    type Refusal = u8;
    type Letter = u8;
    const NAME: &'static str = "Calm";
    const RANGE: Distance = Distance::of_metres(10);

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        tx.spawn(&THINKER, Position::from_metres(-40.0, 1.0).unwrap());
    }

    fn thinks(&self, object: &u8) -> bool {
        *object == THINKER
    }

    fn think(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId) -> Option<Span> {
        Some(Span::from_millis(100))
    }

    fn execute(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId, _: u8) -> Result<(), u8> {
        Ok(())
    }

    fn show(&self, object: &u8, _: Viewer) -> Option<u8> {
        Some(*object)
    }

    fn join_scope(&self, _: PlayerId) -> Scope {
        Scope::area(Position::ORIGIN, Self::RANGE)
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, u8> {
        Ok(tx.spawn(&0, Position::ORIGIN))
    }
}

/// What comes of a thought.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thought {
    Works,
    /// Every call of the game panics, outside of what the game's own panics are caught by, as a bug of the zone would. Were it
    /// one thought only, it could become a suspect (to print a panic takes long), and the zone would go on without it.
    Panics,
    Hangs,
}

struct BadThought {
    now: AtomicU32,
    /// Number of calls that panicked or hung.
    failed: AtomicU32,
}

impl BadThought {
    fn works() -> Arc<Self> {
        Arc::new(Self { now: AtomicU32::new(Thought::Works as u32), failed: AtomicU32::new(0) })
    }

    fn is(&self, it: Thought) -> bool {
        self.now.load(Ordering::Relaxed) == it as u32
    }

    fn set(&self, it: Thought) {
        self.now.store(it as u32, Ordering::Relaxed);
    }
}

impl CallGuard for BadThought {
    fn within<T>(&self, call: impl FnOnce() -> T) -> T {
        if self.is(Thought::Panics) {
            self.failed.fetch_add(1, Ordering::Relaxed);
            panic!("the zone is broken");
        }
        call()
    }

    fn before_event(&self, call: &Call<'_>) {
        let Call::Think { .. } = call else { return };
        self.failed.fetch_add(u32::from(self.is(Thought::Hangs)), Ordering::Relaxed);
        while self.is(Thought::Hangs) {
            std::hint::spin_loop();
        }
    }
}

/// A world of two zones on one host, with one reactor each.
/// Both zones lead when this returns.
async fn start(folder: &Path, thought: &Arc<BadThought>) -> (ControlPlane, HostProcess, ServerConfig) {
    web::count();
    let mut config = ServerConfig { data: folder.to_owned(), ..ServerConfig::default() };
    config.world.hosts = vec![1];
    config.world.zones = 2;
    config.world.half = 100;
    config.host.id = 1;
    config.host.reactors = 2;
    config.directory.listen.set_port(0);
    config.lobby.listen.set_port(0);
    config.host.players.set_port(0);
    config.host.web.set_port(0);
    config.host.mesh.set_port(0);
    let rules: Arc<dyn HostedGame> = Arc::new(GuardedGame::new(Arc::new(Hosted(Calm)), thought.clone()));
    let control_plane = ControlPlane::start(&config, &*rules, Page::default()).await.unwrap();
    let mut host = HostProcess::start(&config, control_plane.directory, rules).await.unwrap();
    until(&mut host, "both zones lead", async |it| leading(it).await == [1, 2]).await;
    (control_plane, host, config)
}

/// The zones of the host that lead, with everything on disk.
async fn leading(host: &HostProcess) -> Vec<u32> {
    let mut leading = Vec::new();
    for (zone, handle) in host.zones.handles() {
        let status = handle.inspect(|it| (it.replica().status(), it.replica().is_synced())).await;
        if matches!(status, Some((ReplicaStatus::Primary(..), true))) {
            leading.push(zone);
        }
    }
    leading
}

/// Number of refreshes, of half a second each, after which a test gives up.
const REFRESHES: u32 = 120;

async fn until(host: &mut HostProcess, what: &str, mut holds: impl AsyncFnMut(&HostProcess) -> bool) {
    for _ in 0..REFRESHES {
        if holds(host).await {
            return;
        }
        host.refresh().await;
    }
    panic!("never: {what}; {:?} lead\n{}", leading(host).await, web::count().render());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_that_fails_again_and_again_harms_only_itself() {
    let folder = TestFolder::new("quarantine");
    let thought = BadThought::works();
    let (_control_plane, mut host, _) = start(&folder.0, &thought).await;
    thought.set(Thought::Panics);
    // All at one moment: between its attempts the zone is there for a while.
    let bad = |it: &HostProcess| {
        let metrics = web::count().render();
        it.registration.entry.zones == [2]
            && metrics.contains("ecumene_zone_quarantine{zone=\"1\"} 1")
            && metrics.contains("ecumene_zone_role{zone=\"1\"} -1")
    };
    until(&mut host, "zone 1 in quarantine", async |it| leading(it).await == [2] && bad(it)).await;
    // It is tried again, and the host lives on: `run` would have ended at a message here.
    until(&mut host, "three attempts", async |_| 3 <= thought.failed.load(Ordering::Relaxed)).await;
    assert!(host.failures.try_recv().is_err());
    thought.set(Thought::Works);
    until(&mut host, "zone 1 works", async |it| leading(it).await == [1, 2]).await;
    host.refresh().await;
    assert_eq!(host.registration.entry.zones, [1, 2]);
    let metrics = web::count().render();
    assert!(metrics.contains("ecumene_zone_quarantine{zone=\"1\"} 0"), "{metrics}");
    host.run(std::future::ready(())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_hangs_ends_the_host_in_order_and_is_noted() {
    let folder = TestFolder::new("hanging-call");
    let thought = BadThought::works();
    let (control_plane, host, config) = start(&folder.0, &thought).await;
    thought.set(Thought::Hangs);
    let error = host.run(std::future::pending()).await.unwrap_err();
    assert!(error.is::<HostStuck>() && error.to_string().contains("in zone 1"), "{error:#}");
    let noted = StuckCalls::read(&config.host_folder());
    assert_eq!((noted.failures(1), noted.failures(2)), (1, 0));
    let suspects = noted.suspects(1);
    assert!(matches!(suspects.iter().next(), Some(Suspect::Think { .. })), "{suspects:?}");
    // The directory knows it, too: also another host would not try it.
    let entry = control_plane.directory_handle.read(vec![leadership_key(ZoneId(1))]).await.unwrap().remove(0);
    assert_eq!(Leadership::from_bytes(&entry.value).unwrap().suspects, suspects);
    thought.set(Thought::Works); // Lets the thread of the reactor end.
}
