//! How often a thread asks for memory, and how much of it it holds.
//!
//! "No allocation in the steady state" is a number that benchmarks print, and they are commands of the program that ships.
//! So a server runs with this counter too, and it may cost next to nothing: two additions to plain numbers of the thread.
//! (`allocation-counter`, which tests use, took 6 % of a zone's instructions, and neither grew memory in place nor
//! got it zeroed from the system.)
//!
//! Whoever links this crate has its allocator, which is the system's. This is the only crate with unsafe code, and there is
//! nothing else in it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What a piece of work did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// How often it asked for memory, or for more in the place of less.
    pub allocations: u64,
    /// How many bytes more it holds after than before.
    pub bytes_held: i64,
}

/// Does `work` and counts; other threads do not count.
pub fn counted(work: impl FnOnce()) -> Counted {
    let before = (ALLOCATIONS.get(), HELD.get());
    work();
    Counted {
        allocations: ALLOCATIONS.get().wrapping_sub(before.0),
        bytes_held: HELD.get().wrapping_sub(before.1),
    }
}

// Neither has a destructor, so that they can be reached to the very end of a thread.
thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
}

fn note(allocations: u64, bytes: i64) {
    ALLOCATIONS.set(ALLOCATIONS.get().wrapping_add(allocations));
    HELD.set(HELD.get().wrapping_add(bytes));
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator as it came, which keeps the contract if the caller does. Counting
// allocates nothing and cannot panic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(1, size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn what_is_taken_and_kept_is_counted() {
        let mut kept = Vec::new();
        let taken = counted(|| {
            kept = black_box(vec![1u8; 100]);
            drop(black_box(Box::new(1u64)));
            kept.reserve_exact(100);
        });
        assert_eq!(taken, Counted { allocations: 3, bytes_held: 200 });
        assert_eq!(counted(|| drop(kept)), Counted { allocations: 0, bytes_held: -200 });
        assert_eq!(counted(|| drop(black_box(vec![0u8; 64]))), Counted { allocations: 1, bytes_held: 0 });
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "what another thread does is what this is about")]
    fn other_threads_and_what_comes_within_do_not_disturb() {
        let mut inner = None;
        let outer = counted(|| {
            drop(black_box(Box::new(1u64)));
            inner = Some(counted(|| drop(black_box(Box::new(2u64)))));
        });
        assert_eq!((outer.allocations, inner.map(|it| it.allocations)), (2, Some(1)));
        let mut elsewhere = None;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| counted(|| drop(black_box(vec![0u8; 1_000]))));
            elsewhere = other.join().ok();
        });
        assert_eq!(elsewhere, Some(Counted { allocations: 1, bytes_held: 0 }));
    }
}
