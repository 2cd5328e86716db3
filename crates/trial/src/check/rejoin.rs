//! A host that came back (or never had a role) writes and announces nothing before it reigns, and it reigns only in an
//! epoch in which it did not reign before: whatever it was, it is not any more until a swap admits it.

use super::Fact;
use crate::violation::Violations;
use machine::Address;
use space::Epoch;
use std::collections::BTreeMap;
use zone::Note;

const NAME: &str = "rejoin";

#[derive(Debug, Default)]
pub struct State {
    reigning: BTreeMap<Address, Epoch>,
    /// The highest epoch in which each host ever reigned.
    highest: BTreeMap<Address, Epoch>,
}

impl State {
    pub fn see(&mut self, fact: Fact<'_>, out: &mut Violations) {
        match fact {
            Fact::Gone(host) | Fact::Said(host, Note::Resigned { .. }) => {
                self.reigning.remove(&host);
            }
            Fact::Said(host, Note::Reigns { epoch, .. }) => self.reigns(host, *epoch, out),
            Fact::Said(host, Note::Wrote { .. } | Note::Announces { .. })
                if !self.reigning.contains_key(&host) =>
            {
                out.add(NAME, format!("{host:?} speaks without reigning"));
            }
            _ => (),
        }
    }

    fn reigns(&mut self, host: Address, epoch: Epoch, out: &mut Violations) {
        let before = self.highest.insert(host, epoch);
        if let Some(before) = before.filter(|it| epoch <= *it) {
            out.add(
                NAME,
                format!("{host:?} reigns in {epoch:?}, though it has reigned in {before:?} before"),
            );
        }
        self.reigning.insert(host, epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(facts: &[Fact<'_>]) -> Vec<String> {
        let (mut state, mut out) = (State::default(), Violations::new(1));
        for fact in facts {
            state.see(*fact, &mut out);
        }
        out.into_vec().into_iter().map(|it| it.detail).collect()
    }

    const HOST: Address = Address(1);
    const SPEAKS: Note = Note::Announces { epoch: Epoch(2), index: 7, alone: true };

    fn reigns(epoch: u32) -> Note {
        Note::Reigns { epoch: Epoch(epoch), head: 6, hash: 0, alone: true }
    }

    #[test]
    fn whoever_reigns_speaks() {
        let (second, third) = (reigns(2), reigns(3));
        let said = |note| Fact::Said(HOST, note);
        let lives = [said(&second), said(&SPEAKS), said(&third), said(&SPEAKS)];
        assert!(verdict(&lives).is_empty());
    }

    #[test]
    fn nobody_speaks_before_or_after_a_reign() {
        let (second, resigned) = (reigns(2), Note::Resigned { epoch: Epoch(2) });
        let said = |note| Fact::Said(HOST, note);
        for silence in [&[][..], &[said(&second), Fact::Gone(HOST)], &[said(&second), said(&resigned)]] {
            let found = verdict(&[silence, &[said(&SPEAKS)]].concat());
            assert_eq!(found, ["Address(1) speaks without reigning"]);
        }
    }

    #[test]
    fn an_old_reign_does_not_go_on() {
        let second = reigns(2);
        let found = verdict(&[Fact::Said(HOST, &second), Fact::Gone(HOST), Fact::Said(HOST, &second)]);
        assert_eq!(found, ["Address(1) reigns in Epoch(2), though it has reigned in Epoch(2) before"]);
    }
}
