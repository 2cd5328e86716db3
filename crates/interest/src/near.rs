//! Who is within reach of the observer whose turn it is.

use crate::{Sight, Slot};

/// Somebody within reach.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Near {
    pub(crate) subject: u32,
    dx: f32,
    dy: f32,
    distance_squared: f32,
}

impl Near {
    pub(crate) fn sight(&self, observer: Slot, facing: (f32, f32)) -> Sight {
        let Self { subject, dx, dy, distance_squared } = *self;
        Sight { observer, subject: Slot(subject), dx, dy, distance_squared, facing }
    }
}

/// Everybody within reach, in a buffer that only grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct NearList {
    buffer: Vec<Near>,
    len: usize,
}

impl NearList {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn as_slice(&self) -> &[Near] {
        &self.buffer[..self.len]
    }

    /// Appends those points whose squared distance from `eye` is at most `within`.
    ///
    /// Without a branch in the loop: whether a point lies in a circle is a coin toss to the processor.
    pub(crate) fn collect(
        &mut self,
        eye: (i32, i32),
        within: f32,
        xs: &[i32],
        ys: &[i32],
        subject_of: impl Fn(usize) -> u32,
    ) {
        if self.buffer.len() < self.len + xs.len() {
            self.buffer.resize(self.len + xs.len(), Near::default());
        }
        let (room, mut count) = (&mut self.buffer[self.len..], 0);
        for (it, (x, y)) in xs.iter().zip(ys).enumerate() {
            let (dx, dy) = ((x - eye.0) as f32, (y - eye.1) as f32);
            let distance_squared = dx * dx + dy * dy;
            room[count] = Near { subject: subject_of(it), dx, dy, distance_squared };
            count += usize::from(distance_squared <= within);
        }
        self.len += count;
    }
}
