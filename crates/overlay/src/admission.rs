//! Admission of messages: how often other peers may send, and which proof they must show.

use crate::context::PeerContext;
use crate::info::Info;
use crate::msg::OverlayMsg;
use crate::uplink::MessageRateLimit;
use machine::Address;

/// Messages per second, and at once, accepted from all unknown peers together: enough for a crowd that arrives.
const STRANGERS: u64 = 200;

/// Searches per second, and at once, that are accepted: enough when every peer looks for itself after a cut.
const SEARCHES: u64 = 100;

/// Information about a peer whose credential was checked. Only [`MessageAdmission`] makes this value, so code that asks
/// for it cannot be reached with an unproven message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdmittedPeer(Info);

impl AdmittedPeer {
    pub const fn info(&self) -> &Info {
        &self.0
    }
}

/// Rate limits on received messages, and the check of credentials.
pub(crate) struct MessageAdmission {
    strangers: MessageRateLimit,
    searches: MessageRateLimit,
    refused: u64,
}

impl MessageAdmission {
    pub const fn new() -> Self {
        Self {
            strangers: MessageRateLimit::new(STRANGERS, STRANGERS),
            searches: MessageRateLimit::new(SEARCHES, SEARCHES),
            refused: 0,
        }
    }

    /// Number of messages that were ignored so far.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns false if the sender, or the kind of message, has used up its rate. `rate_limit` is that of the sender,
    /// if the sender is a neighbour. The paper's peers accept every message.
    #[must_use]
    pub fn accepts(
        &mut self,
        from: Address,
        msg: &OverlayMsg,
        rate_limit: Option<&mut MessageRateLimit>,
        ctx: &PeerContext,
    ) -> bool {
        let bucket = match rate_limit {
            _ if !ctx.config().handshake => return true,
            // Why one limit for all searches: the peer that forwards a search did not start it, so it must not pay for
            // it.
            _ if matches!(msg, OverlayMsg::Seek { .. }) => &mut self.searches,
            // The rendezvous is trusted: it belongs to the operator of the world.
            _ if from == ctx.rendezvous() => return true,
            Some(rate_limit) => rate_limit,
            None => &mut self.strangers,
        };
        let may = bucket.take(ctx.now());
        self.refused += u64::from(!may);
        may
    }

    /// Checks the credential in a message that other peers may have forwarded. An earlier proof does not count: the
    /// sender of such a message is not the peer that it names.
    #[must_use]
    pub fn admit(&mut self, who: Info, credential: &[u8], ctx: &PeerContext) -> Option<AdmittedPeer> {
        let admitted = ctx.admits(&who, credential);
        self.refused += u64::from(!admitted);
        admitted.then_some(AdmittedPeer(who))
    }

    /// Checks the credential in a peer's own message. `proven` is what is known of the peer if it has proven itself
    /// before; then it is admitted again without a check.
    #[must_use]
    pub fn admit_again(
        &mut self,
        who: Info,
        credential: &[u8],
        proven: Option<&Info>,
        ctx: &PeerContext,
    ) -> Option<AdmittedPeer> {
        // Why life and group: the credential vouches for both, so a change of either needs a new proof.
        if proven.is_some_and(|it| (it.life, it.group) == (who.life, who.group)) {
            return Some(AdmittedPeer(who));
        }
        self.admit(who, credential, ctx)
    }
}
