//! The times for which each rule may be broken, and their reasons.

use machine::Span;
use overlay::PeerConfig;
use sim::Profile;
use sim::crowd::Ground;
use space::Distance;

/// The times for which each rule may be broken, and the distance by which a search may miss.
#[derive(Clone, Copy, Debug)]
pub struct CheckerBounds {
    /// A message of a peer may arrive for this long after its life.
    pub last_word: Span,
    /// A peer may stay in lists for this long after its life: its neighbours must notice first.
    pub removed: Span,
    /// The same for a peer that another peer reported after its life.
    pub reported: Span,
    /// A peer may not know for this long that another wants its moves.
    pub links: Span,
    /// A peer whose region touches may be unknown for this long.
    pub enclosing: Span,
    /// A peer in view may be unknown for this long.
    pub view: Span,
    /// The overlay may be in pieces for this long.
    pub whole: Span,
    /// A peer that is relevant to neither side may stay in a list for this long.
    pub lean: Span,
    /// No rule counts for this long after the network was divided.
    pub mended: Span,
    /// Distance by which the end of a search may be farther away than the nearest peer.
    pub stray: Distance,
}

/// Share of repeated messages that may be lost every time: a run has about as many occasions, so rarer losses do not
/// occur.
const RARE: f64 = 1e-5;

/// The most losses in a row: a line that loses more counts as cut.
const LOST_MAX: usize = 200;

impl CheckerBounds {
    /// The bounds for this configuration, on such lines, at this walking speed.
    pub fn of(config: &PeerConfig, line: &Profile, ground: &Ground) -> Self {
        let steps = |count: u64| config.interval.times(count);
        let (one_way, lost) = (line.delay() + line.jitter(), lost_in_a_row(line.loss()));
        // The last message may have been lost and repeated. Silent neighbours are looked for at every step.
        let last_word = one_way + (one_way + line.delay()).times(lost);
        let removed = last_word + config.silent + steps(1);
        // A step reaches the peers between two newcomers, and their introductions reach both. Two peers stand between
        // two neighbours and each tells both, so only four losses at once delay the discovery.
        let discovery = steps(1 + lost.div_ceil(4)) + one_way.times(2);
        // An irrelevant neighbour is noticed at a step, is not wanted any more at the step after the grace period, and
        // is removed by the other side at the step after that has arrived there.
        let lean = config.grace + steps(3 + lost) + one_way.times(2);
        Self {
            last_word,
            removed,
            // Reported by a peer that was about to remove it itself, and removed after the same silence.
            reported: removed.times(2),
            // Every move carries the wish. At the paper's rate this is about three seconds.
            links: steps(1 + lost.max(3)) + one_way.times(2),
            // The peers between may have to discover one of the two first.
            enclosing: discovery + steps(1),
            // No more than the discovery: the buffer around the view is for that.
            view: discovery,
            // The peers that held two parts together may have vanished; then the others must discover each other.
            whole: removed + discovery,
            lean,
            // Peers search for themselves once in ten seconds; three times are enough.
            mended: Span::from_secs(30),
            // The nearest peer may have changed with a step that has not arrived at all peers.
            stray: way(ground, steps(1) + one_way),
        }
    }
}

/// Number of tries that may be lost in a row, as long as that is not too rare.
fn lost_in_a_row(loss: f64) -> u64 {
    let shares = std::iter::successors(Some(loss), |share| Some(share * loss));
    let lost = shares.take(LOST_MAX).take_while(|share| RARE <= *share).count() as u64;
    if loss <= 0.0 { 0 } else { lost + 1 }
}

/// Distance that a walker covers in this span.
fn way(ground: &Ground, span: Span) -> Distance {
    let millimetres = u64::from(ground.speed) * span.as_micros() / 1_000_000;
    Distance::new(u32::try_from(millimetres).unwrap_or(u32::MAX)).unwrap_or(ground.side)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_the_fixed_protocol_on_the_papers_lines() {
        let line = Profile::new(Span::from_millis(60)).with_jitter(Span::from_millis(40));
        let of = |loss| {
            CheckerBounds::of(&PeerConfig::fixed(), &line.with_loss(loss).unwrap(), &Ground::default())
        };
        let millis = |it: CheckerBounds| {
            let all = [it.removed, it.reported, it.links, it.enclosing, it.view, it.whole, it.lean];
            all.map(Span::as_millis)
        };
        assert_eq!(millis(of(0.0)), [3_266, 6_533, 2_866, 1_533, 866, 4_133, 4_200]);
        assert_eq!(millis(of(0.05)), [3_906, 7_813, 3_533, 2_200, 1_533, 5_440, 6_866]);
        assert_eq!(of(0.0).stray.millimetres(), 4_600);
    }
}
