//! The command line under the name of a game's program: its name, version and texts.

use crate::app_game::HOSTILE;
use crate::program::Program;
use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The name of the program in the texts of the commands.
const TEMPLATE_NAME: &str = "ecumene";

/// The same commands with the program's name, version and bots.
pub fn named(commands: Command, program: &Program) -> Command {
    let commands = commands
        .name(kept(&program.name))
        .version(kept(&program.version))
        .about(program.about.clone())
        .mut_subcommand("bots", |it| with_behaviours(it, program, true))
        .mut_subcommand("demo", |it| with_behaviours(it, program, false));
    if program.name == TEMPLATE_NAME { commands } else { renamed(commands, &program.name) }
}

/// Clap takes names for as long as the process lives, and a process has one command line.
fn kept(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn with_behaviours(command: Command, program: &Program, hostile: bool) -> Command {
    command.mut_arg("behaviour", |it| {
        it.help(format!("Behaviour of the bots: {}", behaviours(program, hostile)))
    })
}

/// The names that `--behaviour` takes, as a list for people.
fn behaviours(program: &Program, hostile: bool) -> String {
    let (mixed, extra) = program.bot_names();
    let mut names: Vec<String> = mixed.iter().map(|&it| it.to_owned()).collect();
    names.push("mixed (these in turn)".to_owned());
    names.extend(extra.into_iter().chain(hostile.then_some(HOSTILE)).map(str::to_owned));
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The same commands with another program's name in their texts.
fn renamed(command: Command, name: &str) -> Command {
    let about = command.get_about().map(|it| text(it, name));
    let long_about = command.get_long_about().map(|it| text(it, name));
    let after_help = command.get_after_help().map(|it| text(it, name));
    let mut command = command;
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(about) = long_about {
        command = command.long_about(about);
    }
    if let Some(after) = after_help {
        command = command.after_help(after);
    }
    command.mut_args(|it| renamed_arg(it, name)).mut_subcommands(|it| renamed(it, name))
}

fn renamed_arg(arg: Arg, name: &str) -> Arg {
    match arg.get_help().map(|it| text(it, name)) {
        Some(help) => arg.help(help),
        None => arg,
    }
}

/// A text in which the program is called by its name. "Ecumene", the platform, keeps its own.
fn text(it: &StyledStr, name: &str) -> String {
    it.to_string().replace(&format!("{TEMPLATE_NAME} "), &format!("{name} "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use crate::test_program::{orchard, test_program};
    use clap::CommandFactory as _;

    fn help(commands: &mut Command) -> String {
        commands.build();
        let mut all = commands.render_long_help().to_string();
        for it in commands.get_subcommands_mut() {
            all += &help(it);
        }
        all
    }

    #[test]
    fn no_text_of_a_game_calls_it_by_another_name() {
        let mut commands = named(Cli::command(), &orchard());
        let text = help(&mut commands);
        assert!(text.contains("orchard sim mesh --zones 2"), "{text}");
        let lines: Vec<&str> = text.lines().filter(|it| it.contains("ecumene ")).collect();
        assert!(lines.is_empty(), "{lines:?}");
    }

    #[test]
    fn bots_are_listed_by_name() {
        let program = test_program();
        let names = "wander, hunt, gather, trade, talk, mixed (these in turn), border, cross or hostile";
        assert_eq!(behaviours(&program, true), names);
        assert_eq!(behaviours(&orchard(), false), "roam or mixed (these in turn)");
    }
}
