//! Counts a thread's allocations and the bytes that it holds.
//!
//! "No allocation in the steady state" is a number that benchmarks print, and they are commands of the program that
//! ships. So a server runs with this counter too, and it may cost next to nothing: two additions to plain numbers of
//! the thread.
//! (`allocation-counter`, which tests use, took 6 % of a zone's instructions, and neither grew memory in place nor
//! got it zeroed from the system.)
//!
//! A program that links this crate uses its allocator, which counts and then calls the system's. This is the only
//! crate with unsafe code, and there is nothing else in it.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

/// The allocations of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationCount {
    /// Number of allocations and reallocations.
    pub allocations: u64,
    /// Bytes held afterwards minus bytes held before.
    pub bytes_held: i64,
}

/// Runs `work` and counts its allocations; those of other threads do not count.
pub fn counted(work: impl FnOnce()) -> AllocationCount {
    let before = (ALLOCATIONS.get(), HELD.get());
    work();
    AllocationCount {
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
    // Why wrapping: an overflow check could panic, which an allocator must not.
    ALLOCATIONS.set(ALLOCATIONS.get().wrapping_add(allocations));
    HELD.set(HELD.get().wrapping_add(bytes));
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: every call goes to the system's allocator as it came, which keeps the contract if the caller does. Counting
// allocates nothing and cannot panic.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // One allocation, also if the system grows it in place: the caller asked for memory once.
        note(1, size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn allocations_and_held_bytes_are_counted() {
        let mut kept = Vec::new();
        let taken = counted(|| {
            kept = black_box(vec![1u8; 100]);
            drop(black_box(Box::new(1u64)));
            kept.reserve_exact(100);
        });
        assert_eq!(taken, AllocationCount { allocations: 3, bytes_held: 200 });
        assert_eq!(counted(|| drop(kept)), AllocationCount { allocations: 0, bytes_held: -200 });
        assert_eq!(
            counted(|| drop(black_box(vec![0u8; 64]))),
            AllocationCount { allocations: 1, bytes_held: 0 }
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test is about another thread's allocations")]
    fn other_threads_and_nested_counts_do_not_disturb() {
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
        assert_eq!(elsewhere, Some(AllocationCount { allocations: 1, bytes_held: 0 }));
    }
}
