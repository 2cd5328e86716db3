//! A researcher's own interest policy in the paper's tables, in one file.
//!
//! ```sh
//! cargo run --release --example own_policy -- lab a3 --avatars 100 --runs 2 --out out/own
//! ```
//!
//! `tunnel` sees far ahead and little to the sides: the view angle narrows with distance. It appears in
//! every table, in both figures and as a drawing of its area of interest.

use interest::{Policy, PolicyReach, SubjectView};
use lab::a3::Candidate;
use space::Distance;
use std::process::ExitCode;

/// A close area all around, and a cone that narrows to nothing at the view distance.
struct Tunnel {
    view: Distance,
    critical: Distance,
}

impl Policy for Tunnel {
    fn reach(&self) -> PolicyReach {
        PolicyReach::Within(self.view)
    }

    fn relevance(&self, sight: &SubjectView) -> f32 {
        let (view, critical) = (self.view.millimetres() as f32, self.critical.millimetres() as f32);
        let distance = sight.distance();
        if distance <= critical {
            return 1.0;
        }
        let left = 1.0 - (distance - critical) / (view - critical);
        let ahead = (sight.dx * sight.facing.0 + sight.dy * sight.facing.1) / distance;
        // The farther the subject, the smaller the deviation from straight ahead: `ahead` is 1 straight ahead, 0 at the
        // side.
        if 1.0 - left <= ahead { left } else { 0.0 }
    }
}

fn main() -> ExitCode {
    let tunnel = Candidate::new("tunnel", |it| Ok(Tunnel { view: it.view, critical: it.critical }));
    bundled::run_with(vec![tunnel])
}
