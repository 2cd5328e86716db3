//! The policies in the tables. A researcher adds another one from outside, in one file: see
//! `programs/ecumene/examples/own_policy.rs`.

use super::A3Setting;
use interest::policies::{A3, Circle, CircleAttenuated, Everything, FieldOfView};
use interest::{Policy, PolicyError};

/// A policy under test: its name in the tables, and the function that makes it for a setting.
pub struct Candidate {
    name: String,
    make: Box<MakePolicy>,
}

type MakePolicy = dyn Fn(&A3Setting) -> Result<Box<dyn Policy>, PolicyError> + Sync;

impl Candidate {
    /// A candidate called `name`, made by `make`.
    pub fn new<P: Policy + 'static>(
        name: impl Into<String>,
        make: impl Fn(&A3Setting) -> Result<P, PolicyError> + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), make: Box::new(move |setting| Ok(Box::new(make(setting)?))) }
    }

    /// Name of the candidate in the tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The policy for `setting`, or why there is none.
    pub fn policy(&self, setting: &A3Setting) -> Result<Box<dyn Policy>, PolicyError> {
        (self.make)(setting)
    }

    /// No management: every player is told of every avatar.
    pub fn none() -> Self {
        Self::new("none", |_| Ok(Everything))
    }

    /// The circle of the paper.
    pub fn circle() -> Self {
        Self::new("circle", |it| Ok(Circle::new(it.view)))
    }

    /// The paper's five policies, in its column order.
    pub fn of_the_paper() -> Vec<Self> {
        vec![
            Self::none(),
            Self::circle(),
            Self::new("circle-attenuated", |it| CircleAttenuated::new(it.view, it.critical_of_circle)),
            Self::new("field-of-view", |it| FieldOfView::new(it.view, it.angle)),
            Self::new("a3", |it| A3::new(it.view, it.critical, it.angle)),
        ]
    }
}
