//! The web page, as it was built into this program.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// A file of the page.
pub struct PageFile {
    path: &'static str,
    bytes: &'static [u8],
}

/// The file at this path; `index.html` for `/`.
pub fn find(path: &str) -> Option<&'static PageFile> {
    let path = path.trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    FILES.iter().find(|it| it.path == path)
}

impl IntoResponse for &PageFile {
    fn into_response(self) -> Response {
        let kind = match self.path.rsplit('.').next().unwrap_or_default() {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "json" | "webmanifest" => "application/json",
            "woff2" => "font/woff2",
            _ => "application/octet-stream",
        };
        // Files under `assets/` have their hash in the name and never change; the page itself does.
        let cached =
            if self.path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
        ([(CONTENT_TYPE, kind), (CACHE_CONTROL, cached)], self.bytes).into_response()
    }
}
