//! How long what may be wrong, and why.

use machine::Span;
use overlay::Config;
use sim::Profile;
use sim::crowd::Ground;
use space::Distance;

/// How long what may be wrong, and how far a search may go astray.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Somebody is heard after their life.
    pub last_word: Span,
    /// Somebody is in a list after their life, and those around may not have noticed.
    pub buried: Span,
    /// The same of somebody who was heard of after their life.
    pub hearsay: Span,
    /// Somebody is wanted and does not know.
    pub links: Span,
    /// Somebody whose region touches is not known.
    pub enclosing: Span,
    /// Somebody in view is not known.
    pub view: Span,
    /// The overlay is in pieces.
    pub whole: Span,
    /// Somebody is in a list and matters to neither side.
    pub lean: Span,
    /// Everything, after the network was divided.
    pub mended: Span,
    /// How much farther away a search may end than whoever is nearest.
    pub stray: Distance,
}

/// Words are repeated until fewer than this share of them has been lost every time: a run has about as many occasions.
const RARE: f64 = 1e-5;

/// More are never lost in a row: a line that loses so much has been cut long before.
const LOST_MAX: usize = 200;

impl Bounds {
    /// The bounds of peers that behave so, on such lines, walking as fast as this.
    pub fn of(config: &Config, line: &Profile, ground: &Ground) -> Self {
        let steps = |count: u64| config.interval.times(count);
        let (one_way, lost) = (line.delay() + line.jitter(), lost_in_a_row(line.loss()));
        // The last word may have been lost and said again. The silent are looked for with every step.
        let last_word = one_way + (one_way + line.delay()).times(lost);
        let buried = last_word + config.silent + steps(1);
        // With a step, those between are told; with their word the two know of each other. Two stand between two neighbours
        // and tell both, so four words are lost at once, or none is missed.
        let discovery = steps(1 + lost.div_ceil(4)) + one_way.times(2);
        // Somebody who does not matter is first noticed with a step, not wanted any more with the step after the grace, and
        // thrown out by the other side with the step after it has heard so, or after it was told that it is not known.
        let lean = config.grace + steps(3 + lost) + one_way.times(2);
        Self {
            last_word,
            buried,
            // Told of by somebody about to bury them, and buried after the same silence.
            hearsay: buried.times(2),
            // Every move says so. At the paper's rate this is about three seconds.
            links: steps(1 + lost.max(3)) + one_way.times(2),
            // Whoever stands between may have to hear of one of the two first.
            enclosing: discovery + steps(1),
            // The buffer around the view is for that.
            view: discovery,
            // Whoever held two parts together has vanished, and the others find each other.
            whole: buried + discovery,
            lean,
            // Peers search for themselves once in ten seconds; three times are enough.
            mended: Span::from_secs(30),
            // Who is nearest changes with a step that not everybody has heard of.
            stray: way(ground, steps(1) + one_way),
        }
    }
}

/// How many tries may be lost in a row, as long as that is not too rare.
fn lost_in_a_row(loss: f64) -> u64 {
    let shares = std::iter::successors(Some(loss), |share| Some(share * loss));
    let lost = shares.take(LOST_MAX).take_while(|share| RARE <= *share).count() as u64;
    if loss <= 0.0 { 0 } else { lost + 1 }
}

/// How far one walks.
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
        let of = |loss| Bounds::of(&Config::fixed(), &line.with_loss(loss).unwrap(), &Ground::default());
        let millis = |it: Bounds| {
            let all = [it.buried, it.hearsay, it.links, it.enclosing, it.view, it.whole, it.lean];
            all.map(Span::as_millis)
        };
        assert_eq!(millis(of(0.0)), [3_266, 6_533, 2_866, 1_533, 866, 4_133, 4_200]);
        assert_eq!(millis(of(0.05)), [3_906, 7_813, 3_533, 2_200, 1_533, 5_440, 6_866]);
        assert_eq!(of(0.0).stray.millimetres(), 4_600);
    }
}
