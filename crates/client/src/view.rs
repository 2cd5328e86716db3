//! The view of the world as it is drawn: other objects a little in the past, when their next pose has already arrived,
//! and with predictions of the player's own actions.

use game::BotView;
use machine::{Span, Time};
use serde::de::DeserializeOwned;
use space::{Heading, Motion, ObjectId, Position, Velocity};
use std::collections::{BTreeMap, VecDeque};

/// Age at which other objects are shown: one interval between poses, and a little for their way.
pub const RENDER_DELAY: Span = Span::from_millis(120);

/// Motions kept per object: as many as may start within [`RENDER_DELAY`], and one before.
const REMEMBERED: usize = 4;

/// An object at the time for which it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenObject<S> {
    /// Name of the object in the world.
    pub id: ObjectId,
    /// Its position at that time.
    pub position: Position,
    /// Its velocity at that time.
    pub velocity: Velocity,
    /// Direction in which it looks.
    pub heading: Heading,
    /// The visible part of its state.
    pub shown: S,
}

/// All objects that the client knows now.
#[derive(Clone, Debug, PartialEq)]
pub struct View<S> {
    /// World time, as estimated by the client.
    pub now: Time,
    /// Name of the player's own avatar.
    pub me: ObjectId,
    /// All objects in range, the own avatar among them.
    pub objects: Vec<SeenObject<S>>,
}

impl<S> View<S> {
    /// The player's own avatar, if it is known.
    pub fn own(&self) -> Option<&SeenObject<S>> {
        self.objects.iter().find(|it| it.id == self.me)
    }
}

/// The expected result of an own action: objects with their new visible state, or `None` for a removed one.
pub type Prediction<S> = Vec<(ObjectId, Option<S>)>;

/// The last motions of objects, to show them in the past.
#[derive(Debug, Default)]
pub struct MotionTracks(BTreeMap<ObjectId, VecDeque<Motion>>);

impl MotionTracks {
    /// Draws the view. Other objects are shown [`RENDER_DELAY`] in the past, the own avatar now.
    pub fn draw<S: DeserializeOwned + Clone>(
        &mut self,
        sight: &BotView<'_>,
        predictions: &BTreeMap<u64, Prediction<S>>,
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
            // A new object may have begun to move only after that moment.
            let at = at.max(motion.start.time());
            let (velocity, heading) = (motion.velocity, motion.heading);
            objects.push(SeenObject { id, position: motion.position_at(at), velocity, heading, shown });
        }
        // In the order of the actions, so that a later one wins.
        for (id, prediction) in predictions.values().flatten() {
            match prediction {
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
        // An event put the object elsewhere: it must not be shown walking there.
        Some(last) if last.generation != motion.generation => track.clear(),
        _ => (),
    }
    if track.len() == REMEMBERED {
        track.pop_front();
    }
    track.push_back(motion);
}

/// The newest motion that had begun at this time; if none had, the oldest.
fn moving(track: &VecDeque<Motion>, at: Time) -> Motion {
    let begun = track.iter().rev().find(|it| it.start.time() <= at);
    *begun.or(track.front()).expect("a track is never empty")
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::VisibleObject;
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
        tracks: &mut MotionTracks,
        now: u64,
        motion: Motion,
        predictions: &BTreeMap<u64, Prediction<u8>>,
    ) -> Vec<(i32, u8)> {
        let objects = BTreeMap::from([(id(2), VisibleObject { motion, shown: vec![7] })]);
        let sight = BotView { now: Time::from_millis(now), me: id(1), objects: &objects, unanswered: 0 };
        let view: View<u8> = tracks.draw(&sight, predictions);
        view.objects.iter().map(|it| (it.position.x(), it.shown)).collect()
    }

    #[test]
    fn others_are_shown_on_the_path_they_took() {
        let (mut tracks, none) = (MotionTracks::default(), BTreeMap::new());
        let before = walking(0, 1_000, 0, 0, 0);
        assert_eq!(drawn(&mut tracks, 1_000, before, &none), [(880, 7)]);
        // It turned at 1.05 s; at 1.1 s it is still shown where it was at 0.98 s.
        let after = walking(1_050, -1_000, 1_050, 0, 1);
        assert_eq!(drawn(&mut tracks, 1_100, after, &none), [(980, 7)]);
        assert_eq!(drawn(&mut tracks, 1_200, after, &none), [(1_020, 7)]);
    }

    #[test]
    fn an_object_put_elsewhere_is_not_shown_walking_there() {
        let (mut tracks, none) = (MotionTracks::default(), BTreeMap::new());
        drawn(&mut tracks, 1_000, walking(0, 1_000, 0, 0, 0), &none);
        assert_eq!(drawn(&mut tracks, 1_010, walking(9_000, 0, 1_005, 1, 0), &none), [(9_000, 7)]);
    }

    #[test]
    fn predictions_show_until_they_are_removed() {
        let mut tracks = MotionTracks::default();
        let standing = walking(5, 0, 0, 0, 0);
        let changed = BTreeMap::from([(1, vec![(id(2), Some(9))])]);
        assert_eq!(drawn(&mut tracks, 1_000, standing, &changed), [(5, 9)]);
        let gone = BTreeMap::from([(2, vec![(id(2), None)])]);
        assert_eq!(drawn(&mut tracks, 1_000, standing, &gone), []);
        assert_eq!(drawn(&mut tracks, 1_000, standing, &BTreeMap::new()), [(5, 7)]);
    }
}
