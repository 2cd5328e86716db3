//! `ecumene schema`.

use crate::command::{CommandError, print};
use crate::program::Program;
use anyhow::Context as _;
use clap::Args;
use game::{Game, TypescriptError, schema_hash, schema_text, typescript};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The description of a game's types.
pub struct GameSchema {
    /// The hash that saved worlds carry.
    pub hash: u64,
    text: fn() -> String,
    typescript: fn() -> Result<BTreeMap<String, String>, TypescriptError>,
}

impl GameSchema {
    pub fn of<G: Game>() -> Self {
        Self { hash: schema_hash::<G>(), text: schema_text::<G>, typescript: typescript::<G> }
    }
}

/// Arguments of `ecumene schema`.
#[derive(Args)]
#[command(after_help = "\
Without --ts it prints the types of the game as text, and the schema hash that saved worlds carry.

Examples:
  ecumene schema                       the types, and their hash
  ecumene schema --ts                  a TypeScript module: types, encoders and decoders
  ecumene schema --ts --out web/game   the same as a file, with vectors to test it with

More: docs/schema.md")]
pub struct SchemaArgs {
    /// Print a TypeScript module instead of text.
    #[arg(long)]
    ts: bool,
    /// Write the module and its test vectors into this folder; it is made if it does not exist.
    #[arg(long, value_name = "DIR", requires = "ts")]
    out: Option<PathBuf>,
}

pub fn run(program: &Program, args: &SchemaArgs) -> Result<(), CommandError> {
    let schema = &program.schema;
    if !args.ts {
        return print(&format!("{}\nhash {:016x}\n", (schema.text)().trim_end(), schema.hash));
    }
    let files = (schema.typescript)().context("the game's types cannot be written as TypeScript")?;
    let Some(folder) = &args.out else {
        let modules: String =
            files.iter().filter(|it| it.0.ends_with(".ts")).map(|it| it.1.as_str()).collect();
        return print(&modules);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut written = String::new();
    for (name, text) in &files {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        written += &format!("wrote {}\n", path.display());
    }
    print(&written)
}
