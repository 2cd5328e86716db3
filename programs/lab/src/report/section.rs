//! A table with its title, for a terminal and for a page.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// A table with its title and a note about it.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Section {
    /// The section as text for a terminal.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(self.header.clone());
        table.add_rows(self.rows.clone());
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        let note = if self.note.is_empty() { String::new() } else { format!("\n{}", self.note) };
        format!("{}{note}\n{table}", self.title)
    }
}
