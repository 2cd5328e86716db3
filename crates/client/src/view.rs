//! The world as it is drawn: at a moment a little in the past, so that what others did since their last pose has
//! already been heard, with guesses at what one's own actions will do.

use game::Sight;
use machine::{Span, Time};
use serde::de::DeserializeOwned;
use space::{Heading, Motion, ObjectId, Position, Velocity};
use std::collections::{BTreeMap, VecDeque};

/// How far in the past others are shown: a tick of poses, and a little for the way.
pub const RENDER_DELAY: Span = Span::from_millis(120);

/// Motions remembered per object: as many as may start within [`RENDER_DELAY`], and one before.
const REMEMBERED: usize = 4;

/// An object at the moment it is drawn for.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<S> {
    /// Which.
    pub id: ObjectId,
    /// Where it is.
    pub position: Position,
    /// How fast it goes where.
    pub velocity: Velocity,
    /// Where it looks.
    pub heading: Heading,
    /// What may be seen of it.
    pub shown: S,
}

/// Everything in sight.
#[derive(Clone, Debug, PartialEq)]
pub struct View<S> {
    /// World time, as estimated.
    pub now: Time,
    /// The own avatar.
    pub me: ObjectId,
    /// Everything in sight, the own avatar among it.
    pub objects: Vec<Seen<S>>,
}

impl<S> View<S> {
    /// The own avatar.
    pub fn own(&self) -> Option<&Seen<S>> {
        self.objects.iter().find(|it| it.id == self.me)
    }
}

/// What an own action will probably do: objects as they will be, or gone.
pub type Guess<S> = Vec<(ObjectId, Option<S>)>;

/// Remembers how objects moved, to show them in the past.
#[derive(Debug, Default)]
pub struct Tracks(BTreeMap<ObjectId, VecDeque<Motion>>);

impl Tracks {
    /// Draws what is in sight. Others are shown [`RENDER_DELAY`] in the past, the own avatar now.
    pub fn draw<S: DeserializeOwned + Clone>(
        &mut self,
        sight: &Sight<'_>,
        guesses: &BTreeMap<u64, Guess<S>>,
    ) -> View<S> {
        self.0.retain(|id, _| sight.objects.contains_key(id));
        let past = sight.now - RENDER_DELAY;
        let mut objects = Vec::with_capacity(sight.objects.len());
        for (&id, it) in sight.objects {
            let track = self.0.entry(id).or_default();
            remember(track, it.motion);
            let (motion, at) =
                if id == sight.me { (it.motion, sight.now) } else { (moving(track, past), past) };
            let Ok(shown) = postcard::from_bytes(&it.shown) else { continue };
            let at = at.max(motion.start.time());
            let (velocity, heading) = (motion.velocity, motion.heading);
            objects.push(Seen { id, position: motion.position_at(at), velocity, heading, shown });
        }
        for (id, guess) in guesses.values().flatten() {
            match guess {
                None => objects.retain(|it| it.id != *id),
                Some(shown) => {
                    objects.iter_mut().filter(|it| it.id == *id).for_each(|it| it.shown = shown.clone());
                }
            }
        }
        View { now: sight.now, me: sight.me, objects }
    }
}

fn remember(track: &mut VecDeque<Motion>, motion: Motion) {
    match track.back() {
        Some(last) if *last == motion => return,
        // An event put it elsewhere: it did not walk there.
        Some(last) if last.generation != motion.generation => track.clear(),
        _ => (),
    }
    if track.len() == REMEMBERED {
        track.pop_front();
    }
    track.push_back(motion);
}

/// The newest motion that had begun at a moment; before that, the oldest.
fn moving(track: &VecDeque<Motion>, at: Time) -> Motion {
    let begun = track.iter().rev().find(|it| it.start.time() <= at);
    *begun.or(track.front()).expect("a track is never empty")
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::Sighted;
    use space::{Epoch, Millis, ZoneId};

    fn id(counter: u32) -> ObjectId {
        ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter }
    }

    fn walking(x: i32, vx: i32, start: u64, generation: u32, sequence: u32) -> Motion {
        Motion {
            position: Position::new(x, 0).unwrap(),
            velocity: Velocity::new(vx, 0).unwrap(),
            heading: Heading::EAST,
            start: Millis(start),
            generation,
            sequence,
        }
    }

    fn drawn(
        tracks: &mut Tracks,
        now: u64,
        motion: Motion,
        guesses: &BTreeMap<u64, Guess<u8>>,
    ) -> Vec<(i32, u8)> {
        let objects = BTreeMap::from([(id(2), Sighted { motion, shown: vec![7] })]);
        let sight = Sight { now: Time::from_millis(now), me: id(1), objects: &objects, unanswered: 0 };
        let view: View<u8> = tracks.draw(&sight, guesses);
        view.objects.iter().map(|it| (it.position.x(), it.shown)).collect()
    }

    #[test]
    fn others_are_shown_on_the_way_they_went() {
        let (mut tracks, none) = (Tracks::default(), BTreeMap::new());
        let before = walking(0, 1_000, 0, 0, 0);
        assert_eq!(drawn(&mut tracks, 1_000, before, &none), [(880, 7)]);
        // It turned at 1.05 s; at 1.1 s it is still shown where it was at 0.98 s.
        let after = walking(1_050, -1_000, 1_050, 0, 1);
        assert_eq!(drawn(&mut tracks, 1_100, after, &none), [(980, 7)]);
        assert_eq!(drawn(&mut tracks, 1_200, after, &none), [(1_020, 7)]);
    }

    #[test]
    fn who_was_put_elsewhere_is_not_shown_walking_there() {
        let (mut tracks, none) = (Tracks::default(), BTreeMap::new());
        drawn(&mut tracks, 1_000, walking(0, 1_000, 0, 0, 0), &none);
        assert_eq!(drawn(&mut tracks, 1_010, walking(9_000, 0, 1_005, 1, 0), &none), [(9_000, 7)]);
    }

    #[test]
    fn guesses_show_until_they_are_taken_back() {
        let mut tracks = Tracks::default();
        let standing = walking(5, 0, 0, 0, 0);
        let changed = BTreeMap::from([(1, vec![(id(2), Some(9))])]);
        assert_eq!(drawn(&mut tracks, 1_000, standing, &changed), [(5, 9)]);
        let gone = BTreeMap::from([(2, vec![(id(2), None)])]);
        assert_eq!(drawn(&mut tracks, 1_000, standing, &gone), []);
        assert_eq!(drawn(&mut tracks, 1_000, standing, &BTreeMap::new()), [(5, 7)]);
    }
}
