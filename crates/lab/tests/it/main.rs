//! The experiments, run small.

mod a3;
