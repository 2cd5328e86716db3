//! Numbered places for commands that wait, so that queue entries hold a number and stay small.

/// Values under numbers. The number of a value that was taken is used again.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// Keeps `value` and returns its number.
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.places[number as usize] = Some(value);
            return number;
        }
        let number = u32::try_from(self.places.len()).expect("fewer than 2^32 values wait");
        self.places.push(Some(value));
        number
    }

    /// Gives a value back and frees its number.
    pub(crate) fn take(&mut self, number: u32) -> T {
        let value = self.places[number as usize].take();
        self.free.push(number);
        value.expect("a number is taken once")
    }
}

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn numbers_are_used_again() {
        let mut slab = Slab::new();
        let (first, second) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.take(first), 'a');
        assert_eq!(slab.insert('c'), first);
        assert_eq!((slab.take(second), slab.take(first)), ('b', 'c'));
    }
}
