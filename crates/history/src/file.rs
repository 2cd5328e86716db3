//! How files are called.

/// What their names end with.
pub const EXTENSION: &str = "history";

/// The name of the file for one life of a process. A life never goes on in the file of another: whoever finds the name
/// taken counts on.
pub fn file_name(process: &str, life: u32) -> String {
    format!("{process}.{life}.{EXTENSION}")
}
