//! Messages between zones in words.

use super::record::event;
use super::{list, object_state, range, said, zone};
use crate::bench::names::TableNames;
use zone::{BetweenZones, BorderUpdate, LockDenial, LockRequest, ObjectSnapshot};

impl TableNames {
    pub(super) fn mesh(&self, mesh: &BetweenZones) -> String {
        match mesh {
            BetweenZones::Seek => "who leads there?".to_owned(),
            BetweenZones::Here => "I do".to_owned(),
            BetweenZones::Post { first, items } => {
                let number = range(*first, items.len());
                let items: Vec<_> = items.iter().map(|it| self.item(it)).collect();
                format!("post {number}: {}", items.join("; "))
            }
            BetweenZones::Posted { upto } => format!("has the posts up to {upto}"),
            BetweenZones::Lock(request) => self.request(request),
            BetweenZones::Granted { event: it, objects, .. } => {
                format!("granted for {}: {}", event(*it), snapshots(objects))
            }
            BetweenZones::Denied { event: it, why, .. } => {
                format!("denied for {}: {}", event(*it), denial(*why))
            }
            BetweenZones::Release { event: it, attempt } => format!("release {}, try {attempt}", event(*it)),
            BetweenZones::Ask { event: it, .. } => format!("what of {}?", event(*it)),
            BetweenZones::Watch => "watch, tell me what is near my border".to_owned(),
            BetweenZones::Ghosts(ghosts) => format!("ghosts, all of them: {}", snapshots(ghosts)),
            BetweenZones::BorderUpdate(update) => self.border(update),
            BetweenZones::Motions(motions) => format!("{} motions", motions.len()),
        }
    }

    fn request(&self, request: &LockRequest) -> String {
        let LockRequest { event: it, attempt, scope, waits, .. } = request;
        let waits = if *waits { ", in line" } else { "" };
        format!("lock for {}, try {attempt}{waits}: {}", event(*it), self.scope(scope))
    }

    fn border(&self, update: &BorderUpdate) -> String {
        let shown = update.shown.iter().map(|it| object_state(&it.state));
        let gone = update.gone.iter().map(|it| format!("{} is not there any more", self.object(it.0)));
        let moved = update.moved.iter().map(|it| format!("{} goes to {}", self.object(it.0), zone(it.2)));
        let notices = update.notices.iter().map(|it| format!("\"{}\"", said(&it.1)));
        format!("at the border: {}", list(shown.chain(gone).chain(moved).chain(notices)))
    }
}

fn snapshots(objects: &[ObjectSnapshot]) -> String {
    list(objects.iter().map(|it| object_state(&it.state)))
}

fn denial(why: LockDenial) -> &'static str {
    match why {
        LockDenial::Taken => "taken",
        LockDenial::Busy => "too many wait",
        LockDenial::Stale => "the map is another one",
        LockDenial::TooOld(_) => "too long ago",
    }
}
