//! Who may speak to a peer: how often, and with which proof.

use crate::ctx::Ctx;
use crate::info::Info;
use crate::msg::Msg;
use crate::uplink::Bucket;
use machine::Address;

/// The messages of all strangers together that are heard per second, and at once: as when a crowd comes.
const STRANGERS: u64 = 200;

/// The searches that are heard per second, and at once: as when every peer looks for itself after a cut.
const SEARCHES: u64 = 100;

/// What a peer says about itself, after its credential was checked. Only [`Admission`] makes this value, so code that asks
/// for it cannot be reached with an unproven word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted(Info);

impl Admitted {
    pub const fn info(&self) -> &Info {
        &self.0
    }
}

/// Limits on what is heard, and the check of credentials.
pub(crate) struct Admission {
    strangers: Bucket,
    searches: Bucket,
    refused: u64,
}

impl Admission {
    pub const fn new() -> Self {
        Self {
            strangers: Bucket::new(STRANGERS, STRANGERS),
            searches: Bucket::new(SEARCHES, SEARCHES),
            refused: 0,
        }
    }

    /// How many messages were not listened to.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether a message is heard: no peer may speak too often. `patience` is what is left for the sender, if it is a
    /// neighbour. The paper's peers listen to everything.
    #[must_use]
    pub fn listens_to(&mut self, from: Address, msg: &Msg, patience: Option<&mut Bucket>, ctx: &Ctx) -> bool {
        let bucket = match patience {
            _ if !ctx.config().handshake => return true,
            // A peer that hands searches on is not to blame for them.
            _ if matches!(msg, Msg::Seek { .. }) => &mut self.searches,
            _ if from == ctx.rendezvous() => return true,
            Some(patience) => patience,
            None => &mut self.strangers,
        };
        let may = bucket.take(ctx.now());
        self.refused += u64::from(!may);
        may
    }

    /// Checks the credential that came with a word that others may have handed on: what was proven before proves nothing.
    #[must_use]
    pub fn admit(&mut self, who: Info, credential: &[u8], ctx: &Ctx) -> Option<Admitted> {
        let admitted = ctx.admits(&who, credential);
        self.refused += u64::from(!admitted);
        admitted.then_some(Admitted(who))
    }

    /// Checks the credential that came with a peer's own word, unless the peer has proven before that it is the same:
    /// `proven` is what is known of it then.
    #[must_use]
    pub fn admit_again(
        &mut self,
        who: Info,
        credential: &[u8],
        proven: Option<&Info>,
        ctx: &Ctx,
    ) -> Option<Admitted> {
        if proven.is_some_and(|it| (it.life, it.group) == (who.life, who.group)) {
            return Some(Admitted(who));
        }
        self.admit(who, credential, ctx)
    }
}
