//! Messages between zones in words.

use super::record::event;
use super::{list, range, said, thing, zone};
use crate::bench::names::Names;
use zone::{Denial, Known, Mesh, Told, Wanted};

impl Names {
    pub(super) fn mesh(&self, mesh: &Mesh) -> String {
        match mesh {
            Mesh::Seek => "who leads there?".to_owned(),
            Mesh::Here => "I do".to_owned(),
            Mesh::Post { first, items } => {
                let number = range(*first, items.len());
                let items: Vec<_> = items.iter().map(|it| self.item(it)).collect();
                format!("post {number}: {}", items.join("; "))
            }
            Mesh::Posted { upto } => format!("has the posts up to {upto}"),
            Mesh::Lock(wanted) => self.wanted(wanted),
            Mesh::Granted { event: it, objects, .. } => {
                format!("granted for {}: {}", event(*it), known(objects))
            }
            Mesh::Denied { event: it, why, .. } => format!("denied for {}: {}", event(*it), denial(*why)),
            Mesh::Release { event: it, attempt } => format!("release {}, try {attempt}", event(*it)),
            Mesh::Ask { event: it, .. } => format!("what of {}?", event(*it)),
            Mesh::Watch => "watch, tell me what is near my border".to_owned(),
            Mesh::Ghosts(ghosts) => format!("ghosts, all of them: {}", known(ghosts)),
            Mesh::Told(told) => self.border(told),
            Mesh::Motions(motions) => format!("{} motions", motions.len()),
        }
    }

    fn wanted(&self, wanted: &Wanted) -> String {
        let Wanted { event: it, attempt, scope, waits, .. } = wanted;
        let waits = if *waits { ", in line" } else { "" };
        format!("lock for {}, try {attempt}{waits}: {}", event(*it), self.scope(scope))
    }

    fn border(&self, told: &Told) -> String {
        let shown = told.shown.iter().map(|it| thing(&it.state));
        let gone = told.gone.iter().map(|it| format!("{} is not there any more", self.object(it.0)));
        let moved = told.moved.iter().map(|it| format!("{} goes to {}", self.object(it.0), zone(it.2)));
        let notices = told.notices.iter().map(|it| format!("\"{}\"", said(&it.1)));
        format!("at the border: {}", list(shown.chain(gone).chain(moved).chain(notices)))
    }
}

fn known(objects: &[Known]) -> String {
    list(objects.iter().map(|it| thing(&it.state)))
}

fn denial(why: Denial) -> &'static str {
    match why {
        Denial::Taken => "taken",
        Denial::Busy => "too many wait",
        Denial::Stale => "the map is another one",
        Denial::TooOld(_) => "too long ago",
    }
}
