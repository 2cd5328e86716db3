//! Messages of other zones, and the regular work between zones.

use super::Primary;
use super::context::PrimaryContext;
use crate::core::{Core, ReplicaOutbox, ReplicaTimer};
use crate::mesh::BetweenZones;
use crate::rule::Rule;
use machine::{Address, Lane, Span, Time};
use space::{Epoch, ZoneId};

/// The interval of the regular work between zones.
const TICK: Span = Span::from_millis(50);

/// The replica that sends a message, its zone and epoch, and its world time.
pub(crate) struct ZoneSender {
    pub(crate) address: Address,
    pub(crate) zone: ZoneId,
    pub(crate) epoch: Epoch,
    pub(crate) time: Time,
}

impl Primary {
    /// Handles a message of another zone's primary, if it may be believed.
    pub(crate) fn on_mesh(
        &mut self,
        core: &mut Core,
        from: &ZoneSender,
        mesh: BetweenZones,
        out: &mut ReplicaOutbox,
    ) {
        let mut cx = self.ctx(core, out);
        let cx = &mut cx;
        if !self.accepts_sender(cx, from) {
            return;
        }
        // Every message carries the sender's clock: this zone must not fall far behind it.
        cx.core.follow_time(from.time);
        let zone = from.zone;
        self.in_turn(cx, |coordination, turn| match mesh {
            BetweenZones::Seek => turn.cx.send_zone(zone, Lane::Sure, BetweenZones::Here),
            // `accepts_sender` has taken in all that it says.
            BetweenZones::Here => (),
            BetweenZones::Post { first, items } => coordination.on_post(turn, zone, first, items),
            BetweenZones::Posted { upto } => coordination.post.on_posted(turn.cx.core, zone, upto),
            BetweenZones::Lock(request) => coordination.on_lock(turn, zone, request),
            BetweenZones::Granted { event, attempt, time, objects } => {
                coordination.on_granted(turn, zone, (event, attempt), (time, objects));
            }
            BetweenZones::Denied { event, attempt, why } => coordination.on_denied(turn, event, attempt, why),
            BetweenZones::Release { event, attempt } => coordination.on_release(turn, zone, event, attempt),
            BetweenZones::Ask { event, attempt } => coordination.on_ask(&mut turn.cx, zone, event, attempt),
            BetweenZones::Watch => turn.audience.on_watch(&mut turn.cx, zone),
            BetweenZones::Ghosts(ghosts) => turn.audience.on_ghosts(&mut turn.cx, zone, ghosts),
            BetweenZones::BorderUpdate(update) => turn.audience.on_border_update(&mut turn.cx, zone, update),
            BetweenZones::Motions(motions) => turn.audience.on_ghost_motions(&mut turn.cx, zone, &motions),
        });
    }

    /// Takes in which replica leads its zone; returns whether to handle its message. One of an older epoch is ignored.
    fn accepts_sender(&mut self, cx: &mut PrimaryContext<'_>, from: &ZoneSender) -> bool {
        let zone = from.zone;
        if (cx.core.config.zone_of)(from.address) != Some(zone) || zone == cx.zone() {
            return false;
        }
        let is_over = cx.core.remote_primaries.epoch(zone).is_some_and(|known| from.epoch < known);
        if is_over && cx.enforces(Rule::ZonesFenceEpochs) {
            return false;
        }
        let now = cx.now();
        if cx.core.remote_primaries.hear(zone, from.epoch, from.address, now) {
            // A new primary, or a new link: our post may be lost, and it does not tell us of its objects yet.
            self.coordination.post_again(cx, zone, self.audience.announced());
            if self.audience.borders.is_neighbour(zone) {
                self.audience.borders.watch(cx, zone);
            }
        }
        true
    }

    /// Does the regular work between zones: repeats what may be lost, and gives up what takes too long.
    pub(super) fn on_mesh_tick(&mut self, cx: &mut PrimaryContext<'_>) {
        cx.core.timers.set(ReplicaTimer::Mesh, cx.core.next_multiple(TICK));
        if !cx.core.config.is_meshed() {
            return;
        }
        self.in_turn(cx, |coordination, turn| {
            seek_silent(&mut turn.cx, &turn.audience.borders.neighbours());
            turn.audience.maintain_borders(&mut turn.cx);
            coordination.maintain_post(turn);
            coordination.maintain_grants(&mut turn.cx);
            coordination.maintain_jobs(turn);
            coordination.offer_strayed(turn);
            turn.audience.motions.forget_past(turn.cx.now());
        });
    }
}

/// Seeks the primaries of neighbouring zones that are silent.
fn seek_silent(cx: &mut PrimaryContext<'_>, neighbours: &[ZoneId]) {
    for &zone in neighbours {
        if !cx.core.remote_primaries.heard_recently(zone, cx.now()) {
            cx.seek(zone);
        }
    }
}
