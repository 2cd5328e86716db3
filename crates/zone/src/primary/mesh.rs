//! What other zones say, and what is to be looked after between zones from time to time.

use super::Primary;
use super::context::Ctx;
use crate::core::{Core, Out, Purpose};
use crate::mesh::Mesh;
use crate::rule::Rule;
use machine::{Address, Lane, Span, Time};
use space::{Epoch, ZoneId};

/// How often the affairs with other zones are looked after.
const TICK: Span = Span::from_millis(50);

/// Who says something, in which epoch, and how late it is there.
pub(crate) struct Sender {
    pub(crate) address: Address,
    pub(crate) zone: ZoneId,
    pub(crate) epoch: Epoch,
    pub(crate) time: Time,
}

impl Primary {
    /// Another zone says something.
    pub(crate) fn on_mesh(&mut self, core: &mut Core, from: &Sender, mesh: Mesh, out: &mut Out) {
        let mut cx = self.ctx(core, out);
        let cx = &mut cx;
        if !self.believes(cx, from) {
            return;
        }
        cx.core.hear_time(from.time);
        let zone = from.zone;
        self.in_turn(cx, |coordination, turn| match mesh {
            Mesh::Seek => turn.cx.tell_zone(zone, Lane::Sure, Mesh::Here),
            Mesh::Here => (),
            Mesh::Post { first, items } => coordination.on_post(turn, zone, first, items),
            Mesh::Posted { upto } => coordination.post.on_posted(turn.cx.core, zone, upto),
            Mesh::Lock(wanted) => coordination.on_lock(turn, zone, wanted),
            Mesh::Granted { event, attempt, time, objects } => {
                coordination.on_granted(turn, zone, (event, attempt), (time, objects));
            }
            Mesh::Denied { event, attempt, why } => coordination.on_denied(turn, event, attempt, why),
            Mesh::Release { event, attempt } => coordination.on_release(turn, zone, event, attempt),
            Mesh::Ask { event, attempt } => coordination.on_ask(&mut turn.cx, zone, event, attempt),
            Mesh::Watch => turn.audience.on_watch(&mut turn.cx, zone),
            Mesh::Ghosts(ghosts) => turn.audience.on_ghosts(&mut turn.cx, zone, ghosts),
            Mesh::Told(told) => turn.audience.on_ghosts_told(&mut turn.cx, zone, told),
            Mesh::Motions(motions) => turn.audience.on_ghost_motions(&mut turn.cx, zone, &motions),
        });
    }

    /// Takes in who speaks; whether to believe it. A primary whose reign is over is not believed.
    fn believes(&mut self, cx: &mut Ctx<'_>, from: &Sender) -> bool {
        let zone = from.zone;
        if (cx.core.config.zone_of)(from.address) != Some(zone) || zone == cx.zone() {
            return false;
        }
        let is_over = cx.core.peers.epoch(zone).is_some_and(|known| from.epoch < known);
        if is_over && cx.enforces(Rule::ZonesFenceEpochs) {
            return false;
        }
        let now = cx.now();
        if cx.core.peers.hear(zone, from.epoch, from.address, now) {
            // This primary has not heard from us: our post may be lost, and it does not tell us of its objects.
            self.coordination.post_again(cx, zone, self.audience.announced());
            if self.audience.borders.is_neighbour(zone) {
                self.audience.borders.watch(cx, zone);
            }
        }
        true
    }

    /// Looks after everything between zones.
    pub(super) fn on_mesh_tick(&mut self, cx: &mut Ctx<'_>) {
        cx.core.wake_after(Purpose::Mesh, TICK);
        if !cx.core.config.is_meshed() {
            return;
        }
        self.in_turn(cx, |coordination, turn| {
            seek_silent(&mut turn.cx, &turn.audience.borders.neighbours());
            turn.audience.look_after_borders(&mut turn.cx);
            coordination.look_after_post(turn);
            coordination.look_after_grants(&mut turn.cx);
            coordination.look_after_jobs(turn);
            coordination.offer_strayed(turn);
            turn.audience.motions.forget_past(turn.cx.now());
        });
    }
}

/// Asks who decides in neighbouring zones that are silent.
fn seek_silent(cx: &mut Ctx<'_>, neighbours: &[ZoneId]) {
    for &zone in neighbours {
        if !cx.core.peers.is_there(zone, cx.now()) {
            cx.seek(zone);
        }
    }
}
