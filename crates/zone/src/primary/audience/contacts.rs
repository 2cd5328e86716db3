//! The contacts of clients: the replicas that each client should be able to reach at once.
//!
//! A client needs its home, the backup that may take over, and the primary of a zone whose border its avatar comes near.
//! A connection to every other host would cost both ends packets and memory for nothing.

use super::Audience;
use super::client_views::with_slack;
use crate::core::Core;
use crate::msg::ToPlayer;
use crate::primary::context::PrimaryContext;
use machine::{Address, Time};
use space::{ObjectId, Position};
use std::collections::BTreeMap;

/// What each client was told last.
#[derive(Debug, Default)]
pub(super) struct ClientContacts(BTreeMap<Address, Vec<Address>>);

impl ClientContacts {
    pub(super) fn forget_client(&mut self, client: Address) {
        self.0.remove(&client);
    }
}

impl Audience {
    /// Tells a client its contacts, if they have changed.
    pub(super) fn update_contacts(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        client: Address,
        avatar: ObjectId,
        now: Time,
    ) {
        let Some(object) = cx.core.state.objects.get(avatar) else { return };
        let place = object.motion.position_at(now);
        let before = self.contacts.0.get(&client).map_or(&[][..], Vec::as_slice);
        let mut contacts = vec![cx.core.config.me];
        contacts.extend(cx.backup);
        add_near_primaries(cx.core, place, before, &mut contacts);
        contacts.sort_unstable();
        contacts.dedup();
        if contacts != before {
            self.contacts.0.insert(client, contacts.clone());
            cx.send_client(client, ToPlayer::Contacts(contacts));
        }
    }
}

/// Adds the primaries of other zones that the player can see into. One that is a contact stays one until the avatar is a
/// little farther away, so that a walk along the edge of sight does not change the contacts at each step.
fn add_near_primaries(core: &Core, place: Position, before: &[Address], contacts: &mut Vec<Address>) {
    if !core.config.is_meshed() {
        return;
    }
    let view = core.config.view();
    let mut zones = Vec::new();
    core.config.map.zones_touching(place, with_slack(view), &mut zones);
    for zone in zones.into_iter().filter(|&it| it != core.config.zone) {
        let Some(primary) = core.remote_primaries.address(zone) else { continue };
        let is_in_sight = || core.config.map.polygon(zone).is_some_and(|it| it.meets_disc(place, view));
        if before.contains(&primary) || is_in_sight() {
            contacts.push(primary);
        }
    }
}
