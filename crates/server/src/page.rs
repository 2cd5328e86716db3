//! The web page of a game. It is held in memory, so that no request of a stranger touches the disk.

use anyhow::Context as _;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The most bytes of a folder's files together: a larger folder is more likely a mistake than a page.
const FOLDER_MAX: usize = 256 * 1024 * 1024;

/// A file that is built into the program.
#[derive(Clone, Copy, Debug)]
pub struct PageFile {
    /// The path below the page's address, such as `assets/main.js`.
    pub path: &'static str,
    /// The content of the file.
    pub bytes: &'static [u8],
}

/// The files of a web page, by path. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Page {
    files: Arc<BTreeMap<String, Bytes>>,
}

impl Page {
    /// A page of files that are built into the program; `/` is its `index.html`.
    pub fn embedded(files: &[PageFile]) -> Self {
        let files = files.iter().map(|it| (it.path.to_owned(), Bytes::from_static(it.bytes)));
        Self { files: Arc::new(files.collect()) }
    }

    /// A page of the files in a folder, as they are now. Hidden files and symbolic links are left out.
    pub fn of_folder(folder: &Path) -> anyhow::Result<Self> {
        let (mut files, mut room) = (BTreeMap::new(), FOLDER_MAX);
        collect(folder, "", &mut files, &mut room)
            .with_context(|| format!("cannot read the page in {}", folder.display()))?;
        anyhow::ensure!(
            files.contains_key("index.html"),
            "the page in {} has no index.html",
            folder.display()
        );
        Ok(Self { files: Arc::new(files) })
    }

    /// A page of one HTML text.
    pub fn of_text(html: String) -> Self {
        Self { files: Arc::new(BTreeMap::from([("index.html".to_owned(), Bytes::from(html))])) }
    }

    /// The answer to a request for this path.
    pub(crate) fn answer(&self, path: &str) -> Response {
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "index.html" } else { path };
        let Some(bytes) = self.files.get(path) else { return StatusCode::NOT_FOUND.into_response() };
        // Files under `assets/` have their hash in the name and never change; the page itself does.
        let cached =
            if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
        ([(CONTENT_TYPE, content_type(path)), (CACHE_CONTROL, cached)], bytes.clone()).into_response()
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "webmanifest" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

fn collect(
    folder: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, Bytes>,
    room: &mut usize,
) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &format!("{prefix}{name}/"), files, room)?;
        } else if kind.is_file() {
            let bytes = fs::read(entry.path())?;
            *room = room
                .checked_sub(bytes.len())
                .with_context(|| format!("it has more than {FOLDER_MAX} bytes"))?;
            files.insert(format!("{prefix}{name}"), Bytes::from(bytes));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    /// Status, content type and text of the answer to a path.
    async fn asked(page: &Page, path: &str) -> (u16, String, String) {
        let answer = page.answer(path);
        let kind = answer.headers().get(CONTENT_TYPE).map(|it| it.to_str().unwrap().to_owned());
        let (status, body) = (answer.status().as_u16(), to_bytes(answer.into_body(), 1_000).await.unwrap());
        (status, kind.unwrap_or_default(), String::from_utf8(body.to_vec()).unwrap())
    }

    /// A folder of this test, removed at the end.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("ecumene-page-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("assets")).unwrap();
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn files_have_their_paths_and_kinds() {
        let files = [("index.html", "hello"), ("assets/main.js", "run()")];
        let files = files.map(|(path, text)| PageFile { path, bytes: text.as_bytes() });
        let page = Page::embedded(&files);
        let html = (200, "text/html; charset=utf-8".to_owned(), "hello".to_owned());
        assert_eq!((asked(&page, "/").await, asked(&page, "/index.html").await), (html.clone(), html));
        assert_eq!(asked(&page, "/assets/main.js").await.1, "text/javascript; charset=utf-8");
        assert_eq!(asked(&page, "/nothing").await.0, 404);
        assert_eq!(asked(&Page::of_text("one".to_owned()), "/").await.2, "one");
    }

    #[tokio::test]
    async fn nothing_beside_a_folder_is_given_out() {
        let folder = Folder::new("folder");
        fs::write(folder.0.join("index.html"), "inside").unwrap();
        fs::write(folder.0.join("assets/a.css"), "p {}").unwrap();
        fs::write(folder.0.join(".env"), "secret").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.0.join("link.txt")).unwrap();
        let page = Page::of_folder(&folder.0).unwrap();
        assert_eq!(asked(&page, "/").await.2, "inside");
        assert_eq!(asked(&page, "/assets/a.css").await.0, 200);
        for outside in
            ["/.env", "/link.txt", "/../Cargo.toml", "//etc/hostname", "/assets/../index.html", "/assets"]
        {
            assert_eq!(asked(&page, outside).await.0, 404, "{outside}");
        }
    }

    #[test]
    fn a_folder_without_a_page_is_named() {
        let folder = Folder::new("empty");
        let why = Page::of_folder(&folder.0).unwrap_err().to_string();
        assert!(why.ends_with("has no index.html"), "{why}");
        let why = Page::of_folder(&folder.0.join("gone")).unwrap_err().to_string();
        assert!(why.starts_with("cannot read the page in "), "{why}");
    }
}
