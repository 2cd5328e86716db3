//! The subjects within reach of the observer whose turn it is.

use crate::{Slot, SubjectView};

/// A subject within reach, and where it is from the observer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NearSubject {
    pub(crate) subject: u32,
    dx: f32,
    dy: f32,
    distance_squared: f32,
}

impl NearSubject {
    pub(crate) fn view(&self, observer: Slot, facing: (f32, f32)) -> SubjectView {
        let Self { subject, dx, dy, distance_squared } = *self;
        SubjectView { observer, subject: Slot(subject), dx, dy, distance_squared, facing }
    }
}

/// All subjects within reach, in a buffer that only grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct NearList {
    buffer: Vec<NearSubject>,
    len: usize,
}

impl NearList {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn as_slice(&self) -> &[NearSubject] {
        &self.buffer[..self.len]
    }

    /// Appends those points whose squared distance from `origin` is at most `within`.
    ///
    /// Without a branch in the loop: whether a point lies in a circle is a coin toss to the processor.
    pub(crate) fn collect(
        &mut self,
        origin: (i32, i32),
        within: f32,
        xs: &[i32],
        ys: &[i32],
        subject_of: impl Fn(usize) -> u32,
    ) {
        // Room for all, so that the loop needs no check.
        if self.buffer.len() < self.len + xs.len() {
            self.buffer.resize(self.len + xs.len(), NearSubject::default());
        }
        let (room, mut count) = (&mut self.buffer[self.len..], 0);
        for (it, (x, y)) in xs.iter().zip(ys).enumerate() {
            let (dx, dy) = ((x - origin.0) as f32, (y - origin.1) as f32);
            let distance_squared = dx * dx + dy * dy;
            // Written even if too far away; the next subject then overwrites it.
            room[count] = NearSubject { subject: subject_of(it), dx, dy, distance_squared };
            count += usize::from(distance_squared <= within);
        }
        self.len += count;
    }
}
