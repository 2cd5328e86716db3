//! The configuration file of a game's program: the platform's, with the defaults that the game sets.

use crate::config::{GamePolicy, ServerConfig, TEMPLATE, override_with};
use anyhow::Context as _;
use std::path::Path;

/// A configuration file with all defaults and their explanations, and the policy that the game brings along.
#[derive(Clone, Debug)]
pub struct ConfigTemplate {
    text: String,
    game_policy: Option<GamePolicy>,
}

impl Default for ConfigTemplate {
    fn default() -> Self {
        Self { text: TEMPLATE.to_owned(), game_policy: None }
    }
}

impl ConfigTemplate {
    /// The file, as `config print` shows it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same file with another default of a key, whose explanation stays.
    ///
    /// # Panics
    /// If the file has no such key.
    #[must_use]
    pub fn with(self, section: &str, key: &str, value: impl Into<toml::Value>) -> Self {
        let (header, start, value) = (format!("[{section}]"), format!("{key} = "), value.into());
        let (mut is_inside, mut is_set, mut text) = (false, false, String::new());
        for line in self.text.lines() {
            if line.starts_with('[') {
                is_inside = line == header;
            }
            if is_inside && line.starts_with(&start) {
                text += &format!("{start}{value}\n");
                is_set = true;
            } else {
                text += &format!("{line}\n");
            }
        }
        assert!(is_set, "the template has {section}.{key}");
        Self { text, ..self }
    }

    /// The same file with the game's own policy as the default.
    #[must_use]
    pub fn with_policy(self, policy: GamePolicy) -> Self {
        Self { game_policy: Some(policy), ..self.with("carrier", "policy", "game") }
    }

    /// The same file for a program of this name.
    #[must_use]
    pub fn named(self, program: &str) -> Self {
        Self { text: self.text.replace("`ecumene ", &format!("`{program} ")), ..self }
    }

    /// The defaults, overridden by the keys of a file.
    pub fn load(&self, path: Option<&Path>) -> anyhow::Result<ServerConfig> {
        let Some(path) = path else { return self.config("") };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        self.config(&text).with_context(|| format!("in {}", path.display()))
    }

    /// The defaults, overridden by the keys of a text.
    pub fn config(&self, text: &str) -> anyhow::Result<ServerConfig> {
        let mut whole: toml::Table = toml::from_str(&self.text)?;
        let given: toml::Table = toml::from_str(text)?;
        override_with(&mut whole, given);
        let mut config: ServerConfig = whole.try_into()?;
        config.carrier.game_policy.clone_from(&self.game_policy);
        config.check()?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PolicySetting;
    use crate::zone_worker;
    use interest::PolicyReach;
    use interest::policies::Circle;
    use space::Distance;
    use std::sync::Arc;

    #[test]
    fn a_game_sets_defaults_and_a_file_wins_over_them() {
        let template = ConfigTemplate::default().with("world", "half", 40).with("world", "zones", 4);
        let world = |text: &str| template.config(text).unwrap().world;
        assert_eq!((world("").half, world("").zones), (40, 4));
        assert_eq!((world("[world]\nhalf = 70").half, world("[world]\nhalf = 70").zones), (70, 4));
        // What is printed, comments and all, is what counts.
        assert!(template.text().contains("a square of twice this.\nhalf = 40\n"), "{}", template.text());
        assert_eq!(ServerConfig::of_text(template.text()).unwrap().world, world(""));
    }

    #[test]
    fn a_policy_of_the_game_is_the_default_and_needs_a_game_that_brings_it() {
        let policy = GamePolicy(Arc::new(|it| {
            let view = Distance::from_metres(it.view).unwrap_or(Distance::of_metres(1));
            Ok(Box::new(Circle::new(view)))
        }));
        let template = ConfigTemplate::default().with_policy(policy);
        let config = template.config("[carrier]\nview = 33.0").unwrap();
        assert_eq!(config.carrier.policy, PolicySetting::Game);
        let PolicyReach::Within(reach) = zone_worker::policy(&config.carrier).unwrap().reach() else {
            panic!("a circle has a reach")
        };
        assert_eq!(reach, Distance::of_metres(33));
        let other = template.config("[carrier]\npolicy = \"everything\"").unwrap();
        assert_eq!(other.carrier.policy, PolicySetting::Everything);
        let why = ServerConfig::of_text("[carrier]\npolicy = \"game\"").unwrap_err().to_string();
        assert!(why.contains("brings no policy of its own"), "{why}");
    }

    #[test]
    fn the_file_names_the_program_that_prints_it() {
        let text = ConfigTemplate::default().named("orchard").text().to_owned();
        assert!(text.contains("`orchard config print`") && !text.contains("`ecumene "), "{text}");
    }
}
