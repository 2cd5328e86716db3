//! A primary holds everything that was ever announced: nothing that a player saw is undone.

use super::Observation;
use crate::record_tracker::RecordTracker;
use crate::violation::Violations;
use zone::Note;

const NAME: &str = "nothing_lost";

pub fn see(seen: Observation<'_>, tracker: &RecordTracker, out: &mut Violations) {
    match seen {
        Observation::Noted(host, Note::Leads { epoch, .. }) => {
            let mine = tracker.memory.get(&host).copied().unwrap_or((space::Epoch(0), 0));
            // A primary that hears late that it won, after a later epoch announced records, is fenced: no machine
            // believes it.
            let lost = tracker.first_lost(mine).filter(|((lost, _), _)| lost <= epoch);
            if let Some(((lost, index), _)) = lost {
                let text = format!(
                    "{host:?} is primary in {epoch:?} with records up to {}, but record {index} of {lost:?} was announced",
                    mine.1
                );
                out.add(NAME, text);
            }
        }
        // Two announcements of one number must be of one record.
        Observation::Noted(host, Note::Announces { index, .. }) => {
            let Some(&mine) = tracker.memory.get(&host) else { return };
            let known = tracker.announced.range(..=index).next_back();
            if let Some((&index, announcement)) = known
                && !tracker.holds(mine, (announcement.epoch, index))
            {
                out.add(NAME, format!("{host:?} announces another record {index} than was announced before"));
            }
        }
        _ => (),
    }
}
