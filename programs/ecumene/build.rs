//! Builds the web page into the program: the files that `npm run build` left in `web/kosmos/dist`, or a notice instead.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../web/kosmos/dist");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(&folder, "", &mut files);
    if files.is_empty() {
        let note = out.join("index.html");
        let text = "<!doctype html><title>Ecumene</title><p>The page is not built in. Run <code>./run</code>, or \
                    <code>npm ci && npm run build</code> in <code>web</code>, then build again.";
        fs::write(&note, text).expect("the build folder can be written");
        files.push(("index.html".to_owned(), note));
    }
    files.sort();
    let mut code = String::from("static FILES: &[PageFile] = &[\n");
    for (number, (name, path)) in files.into_iter().enumerate() {
        // A copy, because the folder may be built anew while this program is compiled.
        let copy = out.join(format!("page-{number}"));
        fs::copy(&path, &copy).expect("the file is there, and the build folder can be written");
        let path = copy;
        writeln!(code, "    PageFile {{ path: {name:?}, bytes: include_bytes!({path:?}) }},")
            .expect("a string takes it");
    }
    code.push_str("];\n");
    fs::write(out.join("page.rs"), code).expect("the build folder can be written");
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push((name, entry.path()));
        }
    }
}
