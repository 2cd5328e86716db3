//! Where the web page of a game comes from.

use server::Page;
use std::path::PathBuf;

/// The source of a game's web page.
pub enum PageSource {
    /// The game has no page.
    None,
    /// Files that are built into the program.
    Files(Page),
    /// A folder, read when the control plane starts.
    Folder(PathBuf),
}

impl PageSource {
    /// The page; a text about what to do if there is none.
    pub fn load(&self, game: &str) -> Page {
        match self {
            Self::None => Page::of_text(notice(
                game,
                "This game has no page yet. Its program gives one with <code>App::page_folder</code> or \
                 <code>App::page_files</code>.",
            )),
            Self::Files(page) => page.clone(),
            Self::Folder(folder) => Page::of_folder(folder).unwrap_or_else(|error| {
                tracing::warn!("{error:#}");
                let why = format!("{error:#}. Build the page, then start again.");
                Page::of_text(notice(game, &escaped(&why)))
            }),
        }
    }
}

/// A page that says why there is no other one, and what the world is doing.
fn notice(game: &str, why: &str) -> String {
    let game = escaped(game);
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{game}</title>\
         <h1>{game}</h1><p>{why}</p><p>The world is running:</p><pre id=\"world\"></pre>\
         <script>fetch('/health').then(it => it.json()).then(it => {{\
         document.getElementById('world').textContent = JSON.stringify(it, null, 2) }})</script></html>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_game_without_a_page_has_no_markup_of_its_own() {
        let text = notice("Rock & <b>Roll</b>", &escaped("cannot read <dist>"));
        assert!(text.contains("<h1>Rock &amp; &lt;b&gt;Roll&lt;/b&gt;</h1>"), "{text}");
        assert!(text.contains("cannot read &lt;dist&gt;"), "{text}");
    }

    #[test]
    fn a_folder_that_is_not_there_does_not_stop_the_world() {
        let source = PageSource::Folder(PathBuf::from("no/such/folder"));
        let page = format!("{:?}", source.load("Rock"));
        assert!(
            page.contains("cannot read the page in no/such/folder") && page.contains("Build the page"),
            "{page}"
        );
    }
}
