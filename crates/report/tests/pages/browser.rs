//! The gallery in a real browser, wide and narrow, light and dark.
//!
//! Needs Chromium: `$CHROMIUM`, or `chromium`, `chromium-browser` or `google-chrome` on the path. Without one the
//! test says so and passes, unless `BOCHNER_GATE` is set.

#![allow(clippy::unwrap_used, reason = "a test stops where something is amiss")]

use super::gallery;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Reports the width of the page and of what it holds, whether it is dark, how many figures have a size, and the
/// smallest text of a figure in pixels.
const PROBE: &str = r#"<script>
addEventListener("load", () => {
  const root = document.documentElement;
  const sized = [...document.querySelectorAll("figure svg[role=img]")].filter(svg => svg.getBoundingClientRect().height > 20);
  const texts = [...document.querySelectorAll(".plot text")].map(text => {
    const svg = text.ownerSVGElement;
    return parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  });
  const cut = [...document.querySelectorAll(".plot text")].filter(text => {
    const [a, b] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
  });
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const report = ["PROBE", root.clientWidth, root.scrollWidth, dark, sized.length, Math.min(...texts).toFixed(1), cut.map(text => text.textContent).join("|") || "-"].join(" ");
  parent.document.title = report;
});
</script></body>"#;

/// What the probe found.
#[derive(Debug)]
struct Found {
    width: u32,
    content: u32,
    dark: bool,
    figures: usize,
    smallest_text: f64,
    /// The texts that reach out of their figure; `-` for none.
    cut: String,
}

fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM").filter(|path| !path.is_empty()) {
        return Some(PathBuf::from(path));
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

/// The page in a frame of the given width: a window of a headless browser has a least width that is above a phone's.
fn framed(html: &str, width: u32) -> String {
    let page = html.replace("</body>", PROBE).replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\"><title>-</title>\
         </head><body style=\"margin:0\"><iframe style=\"border:0;width:{width}px;height:900px\" srcdoc=\"{page}\"></iframe></body></html>"
    )
}

fn open(browser: &Path, folder: &Path, html: &str, width: u32, dark: bool) -> Found {
    let file = folder.join(format!("{width}-{dark}.html"));
    std::fs::write(&file, framed(html, width)).unwrap();
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000", "--window-size=1300,900"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {log}", output.status);
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let title = dom
        .split_once("<title>")
        .and_then(|(_, tail)| tail.split_once("</title>"))
        .map_or("", |(title, _)| title);
    let words: Vec<&str> = title.splitn(7, ' ').collect();
    assert!(words.len() == 7 && words[0] == "PROBE", "the probe wrote {title:?}");
    Found {
        width: words[1].parse().unwrap(),
        content: words[2].parse().unwrap(),
        dark: words[3].parse().unwrap(),
        figures: words[4].parse().unwrap(),
        smallest_text: words[5].parse().unwrap(),
        cut: words[6].to_owned(),
    }
}

#[test]
fn the_gallery_fits_every_screen() {
    let Some(browser) = chromium() else {
        assert!(std::env::var_os("BOCHNER_GATE").is_none(), "BOCHNER_GATE is set, and there is no Chromium");
        eprintln!("\n*** SKIPPED: no Chromium found; the report was not opened in a browser ***\n");
        return;
    };
    let html = gallery::page().html();
    let figures = html.matches("role=\"img\"").count();
    let folder = std::env::temp_dir().join(format!("bochner-report-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (width, dark) in [(1200, false), (1200, true), (390, false), (390, true)] {
        let found = open(&browser, &folder, &html, width, dark);
        assert_eq!((found.dark, found.figures), (dark, figures), "{width} pixels: {found:?}");
        // A scroll bar may take a few pixels of the frame.
        assert!(found.width <= width && found.width + 20 > width, "{width} pixels: {found:?}");
        assert!(found.content <= found.width, "something is wider than {width} pixels: {found:?}");
        assert!(found.smallest_text >= 9.5, "text too small at {width} pixels: {found:?}");
        assert_eq!(found.cut, "-", "text reaches out of its figure at {width} pixels: {found:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
