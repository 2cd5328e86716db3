//! Whoever reigns holds everything that was ever announced: nothing anybody saw is undone.

use super::Fact;
use crate::ledger::Ledger;
use crate::violation::Violations;
use zone::Note;

const NAME: &str = "nothing_lost";

pub fn see(fact: Fact<'_>, ledger: &Ledger, out: &mut Violations) {
    match fact {
        Fact::Said(host, Note::Reigns { epoch, .. }) => {
            let mine = ledger.memory.get(&host).copied().unwrap_or((space::Epoch(0), 0));
            // Whoever hears late that they won, after others have reigned and spoken, is believed by nobody.
            let lost = ledger.lost(mine).filter(|((lost, _), _)| lost <= epoch);
            if let Some(((lost, index), _)) = lost {
                let text = format!(
                    "{host:?} reigns in {epoch:?} with records up to {}, but record {index} of {lost:?} was announced",
                    mine.1
                );
                out.add(NAME, text);
            }
        }
        // Two announcements of one number must be of one record.
        Fact::Said(host, Note::Announces { index, .. }) => {
            let Some(&mine) = ledger.memory.get(&host) else { return };
            let known = ledger.announced.range(..=index).next_back();
            if let Some((&index, told)) = known
                && !ledger.holds(mine, (told.epoch, index))
            {
                out.add(NAME, format!("{host:?} announces another record {index} than was announced before"));
            }
        }
        _ => (),
    }
}
