//! A host that came back (or never had a role) writes and announces nothing before it is primary, and it is primary
//! only in an epoch in which it was not before: whatever role it had, it has none until a swap admits it.

use super::Observation;
use crate::violation::Violations;
use machine::Address;
use space::Epoch;
use std::collections::BTreeMap;
use zone::Note;

const NAME: &str = "rejoin";

#[derive(Debug, Default)]
pub struct RejoinChecker {
    primaries: BTreeMap<Address, Epoch>,
    /// The highest epoch in which each host ever was primary.
    highest: BTreeMap<Address, Epoch>,
}

impl RejoinChecker {
    pub fn see(&mut self, seen: Observation<'_>, out: &mut Violations) {
        match seen {
            Observation::Gone(host) | Observation::Noted(host, Note::RoleLost { .. }) => {
                self.primaries.remove(&host);
            }
            Observation::Noted(host, Note::Leads { epoch, .. }) => self.becomes_primary(host, *epoch, out),
            Observation::Noted(host, Note::Wrote { .. } | Note::Announces { .. })
                if !self.primaries.contains_key(&host) =>
            {
                out.add(NAME, format!("{host:?} speaks without reigning"));
            }
            _ => (),
        }
    }

    fn becomes_primary(&mut self, host: Address, epoch: Epoch, out: &mut Violations) {
        let before = self.highest.insert(host, epoch);
        if let Some(before) = before.filter(|it| epoch <= *it) {
            out.add(
                NAME,
                format!("{host:?} reigns in {epoch:?}, though it has reigned in {before:?} before"),
            );
        }
        self.primaries.insert(host, epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(observations: &[Observation<'_>]) -> Vec<String> {
        let (mut state, mut out) = (RejoinChecker::default(), Violations::new(1));
        for seen in observations {
            state.see(*seen, &mut out);
        }
        out.into_vec().into_iter().map(|it| it.detail).collect()
    }

    const HOST: Address = Address(1);
    const SPEAKS: Note = Note::Announces { epoch: Epoch(2), index: 7, alone: true };

    fn becomes_primary(epoch: u32) -> Note {
        Note::Leads { epoch: Epoch(epoch), head: 6, hash: 0, alone: true }
    }

    #[test]
    fn a_primary_writes_and_announces() {
        let (second, third) = (becomes_primary(2), becomes_primary(3));
        let said = |note| Observation::Noted(HOST, note);
        let lives = [said(&second), said(&SPEAKS), said(&third), said(&SPEAKS)];
        assert!(violations(&lives).is_empty());
    }

    #[test]
    fn a_host_is_silent_before_and_after_it_is_primary() {
        let (second, resigned) = (becomes_primary(2), Note::RoleLost { epoch: Epoch(2) });
        let said = |note| Observation::Noted(HOST, note);
        for silence in [&[][..], &[said(&second), Observation::Gone(HOST)], &[said(&second), said(&resigned)]]
        {
            let found = violations(&[silence, &[said(&SPEAKS)]].concat());
            assert_eq!(found, ["Address(1) speaks without reigning"]);
        }
    }

    #[test]
    fn an_old_leadership_does_not_go_on() {
        let second = becomes_primary(2);
        let found = violations(&[
            Observation::Noted(HOST, &second),
            Observation::Gone(HOST),
            Observation::Noted(HOST, &second),
        ]);
        assert_eq!(found, ["Address(1) reigns in Epoch(2), though it has reigned in Epoch(2) before"]);
    }
}
