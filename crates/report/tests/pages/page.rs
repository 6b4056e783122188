//! A whole page: well-formed, without chance, small, and free of numbers that are not numbers.

use super::gallery;

use std::collections::HashSet;

use bochner_report::{
    Anchor, Axis, Bar, Bars, Chart, ClassPoint, Drawing, Figure, Image, Images, Level, Matrix, Page, Paint,
    Raster, Series, Shape, Style, Table,
};

/// Walks through markup: tags balance, attributes are quoted and named once, `<` and `&` are escaped.
/// Gives every attribute as (tag, name, value).
fn check(html: &str) -> Result<Vec<(String, String, String)>, String> {
    let mut rest = html.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?.trim_start();
    let (mut open, mut attributes) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let (text, tail) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        entities(text)?;
        if open.is_empty() && !text.trim().is_empty() {
            return Err(format!("text outside of everything: {text:?}"));
        }
        let Some(tail) = tail.strip_prefix('<') else { break };
        let end = tail.find('>').ok_or("a tag without its end")?;
        let (tag, tail) = (&tail[..end], &tail[end + 1..]);
        rest = tail;
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            if last.as_deref() != Some(name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut list) = tag.split_once(' ').unwrap_or((tag, ""));
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(format!("a tag called {name:?}"));
        }
        let mut seen = HashSet::new();
        while !list.is_empty() {
            let (key, tail) = list.split_once("=\"").ok_or_else(|| format!("no quote in {tag:?}"))?;
            let (value, tail) = tail.split_once('"').ok_or_else(|| format!("no closing quote in {tag:?}"))?;
            entities(value)?;
            if key.contains(|c: char| c.is_whitespace() || c == '"') || !seen.insert(key) {
                return Err(format!("attribute {key:?} in {tag:?}"));
            }
            attributes.push((name.to_owned(), key.to_owned(), value.to_owned()));
            list = match tail.strip_prefix(' ') {
                Some(tail) => tail,
                None if tail.is_empty() => tail,
                None => return Err(format!("no space after {key:?} in {tag:?}")),
            };
        }
        if !closed {
            open.push(name.to_owned());
        }
    }
    if open.is_empty() { Ok(attributes) } else { Err(format!("left open: {open:?}")) }
}

fn entities(text: &str) -> Result<(), String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    match text.split('&').skip(1).find(|tail| !known.iter().any(|entity| tail.starts_with(entity))) {
        Some(tail) => Err(format!("a bare & before {:?}", tail.chars().take(20).collect::<String>())),
        None => Ok(()),
    }
}

/// Every id once, every reference to an id that exists.
fn check_ids(attributes: &[(String, String, String)]) {
    let mut ids = HashSet::new();
    for (_, _, id) in attributes.iter().filter(|(_, name, _)| name == "id") {
        assert!(ids.insert(id.as_str()), "two elements called {id}");
    }
    for (_, _, value) in attributes.iter().filter(|(_, name, _)| name == "aria-labelledby") {
        assert!(value.split(' ').all(|id| ids.contains(id)), "{value} names nothing");
    }
}

#[test]
fn the_checker_finds_faults() {
    let page = |body: &str| format!("<!DOCTYPE html>\n<html>{body}</html>\n");
    assert!(check(&page("<p class=\"a\">x &amp; y<br/></p>")).is_ok());
    for fault in [
        "<p>",
        "</p>",
        "<p></b>",
        "<p class=a></p>",
        "<p a=\"1\" a=\"2\"></p>",
        "<p a=\"1\"b=\"2\"></p>",
        "a & b",
        "<p a=\"&\"/>",
        "a < b",
    ] {
        assert!(check(&page(fault)).is_err(), "{fault} was let through");
    }
}

#[test]
fn the_gallery_is_well_formed_with_unique_ids() {
    let attributes = check(&gallery::page().html()).unwrap();
    check_ids(&attributes);
    let images =
        attributes.iter().filter(|(tag, name, value)| tag == "svg" && name == "role" && value == "img");
    assert_eq!(images.count(), 33, "thirteen drawings and twenty digits");
}

#[test]
fn no_network_no_script_and_the_same_bytes() {
    let html = gallery::page().html();
    assert_eq!(html, gallery::page().html());
    for word in ["http", "<script", "url(", "@import", "<link", "src="] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.len() < 200_000, "{} bytes", html.len());
}

#[test]
fn coordinates_have_two_decimals_at_most() {
    let attributes = check(&gallery::page().html()).unwrap();
    for (tag, name, value) in
        attributes.iter().filter(|(_, name, _)| name == "d" || name == "x" || name == "y")
    {
        for number in value.split(|c: char| !c.is_ascii_digit() && c != '.') {
            let decimals = number.split_once('.').map_or(0, |(_, part)| part.len());
            assert!(decimals <= 2, "{tag} {name}: {number}");
        }
    }
}

const BAD: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308];

/// Every kind of figure, with a number that is not one in every place.
fn hostile(bad: f64) -> Page {
    let mut page = Page::new("]]> <b>&\"'");
    for axis in
        [Axis::linear("<x>", "&"), Axis::log("", "").between(bad, 1.0), Axis::log("x", "").between(0.0, bad)]
    {
        let points = [(1.0, 2.0), (bad, 3.0), (3.0, bad), (4.0, -5.0), (5.0, 6.0)];
        let band = vec![(bad, 1.0), (1.0, bad), (bad, bad), (0.0, 1.0)];
        let all = [
            Series::line("<a>", points),
            Series::curve("b", points),
            Series::dashed("c", points),
            Series::scatter("d", points),
        ];
        let series = all.map(|series| Series { band: band.clone(), ..series }).to_vec();
        let levels = vec![Level::new("<level>", bad), Level::new("l", 2.0)];
        let ticks = vec![(bad, "t".to_owned()), (2.0, "&".to_owned())];
        let chart = Chart { x: axis.clone(), y: Axis { ticks, ..axis.clone() }, series, levels };
        page.figure(Figure::of("<caption>", chart));
        let cells = vec![0, 1, 200, 255, 1];
        let points = vec![ClassPoint { x: bad, y: 1.0, class: 9 }, ClassPoint { x: 1.0, y: bad, class: 255 }];
        let raster = Raster {
            columns: 2,
            cells,
            points,
            x: axis.clone(),
            y: axis.clone(),
            classes: vec!["<c>".to_owned()],
        };
        page.figure(Figure::of("", raster));
        let mut drawing = Drawing { x: axis.clone(), y: axis, ratio: Some(bad), ..Drawing::default() };
        drawing.circle((1.0, 1.0), bad, Style::stroke(Paint::Grey(bad)));
        drawing.circle((bad, 1.0), 1.0, Style { width: bad, ..Style::stroke(Paint::Ink) });
        drawing.arrow((bad, 1.0), (2.0, 2.0), Style::stroke(Paint::Ink));
        drawing.rectangle((1.0, bad), (2.0, 2.0), Style::fill(Paint::Tint(99)));
        drawing.polyline([(bad, bad), (1.0, 1.0)], Style::stroke(Paint::Colour(usize::MAX)));
        drawing.text((bad, 0.0), "<t>", Anchor::Start, Paint::Ink);
        drawing.add(Shape::Polygon(vec![(bad, 1.0), (1.0, 1.0)]), Style::fill(Paint::Ink));
        drawing.add(Shape::Dot { at: (1.0, bad), marker: usize::MAX }, Style::fill(Paint::Ink));
        page.figure(Figure::of("", drawing));
    }
    let image = Image { columns: 0, values: vec![bad, 1.0], ..Image::default() };
    page.figure(Figure::of("", Images { images: vec![image], range: (0.0, 0.0) }));
    page.figure(Figure::of("", Matrix { columns: 2, values: vec![bad, 1.0, 2.0], ..Matrix::default() }));
    page.figure(Figure::of("", Matrix { columns: 0, range: Some((bad, bad)), ..Matrix::default() }));
    let signed = Matrix {
        columns: 2,
        values: vec![bad, -1.0, -bad],
        signed: true,
        texts: vec!["<t>".to_owned(); 9],
        row_labels: vec!["<r>".repeat(99)],
        ..Matrix::default()
    };
    page.figure(Figure::of("", signed));
    let bar = |value| Bar { name: "<n>".repeat(99), value, text: "&".to_owned() };
    page.figure(Figure::of("", Bars { bars: vec![bar(bad), bar(-1.0), bar(2.0)] }));
    for empty in [
        Figure::of("", Bars::default()),
        Figure::of("", Chart::default()),
        Figure::of("", Raster::default()),
        Figure::of("", Drawing::default()),
    ] {
        page.figure(empty);
    }
    page.figure(Figure::default());
    page.table(Table { rows: vec![vec!["<cell>".to_owned()]], highlighted: vec![7], ..Table::default() });
    page
}

#[test]
fn what_is_not_finite_is_never_written() {
    for bad in BAD {
        let html = hostile(bad).html();
        let attributes = check(&html).unwrap();
        check_ids(&attributes);
        for (tag, name, value) in &attributes {
            assert!(!value.contains("NaN") && !value.contains("inf"), "{tag} {name}: {value}");
        }
        assert!(!html.contains("NaN"));
    }
}

#[test]
fn a_surface_of_nine_classes_stays_small() {
    // As bad as it gets: no two neighbours are alike.
    let cells: Vec<u8> = (0..9600_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as u8 % 9).collect();
    let noise = Raster { columns: 120, cells, ..Raster::default() };
    let size = |raster: Raster| {
        let mut page = Page::new("");
        page.figure(Figure::of("", raster));
        page.html().len() - Page::new("").html().len()
    };
    let noise = size(noise);
    let smooth = Raster::sample(Axis::default(), Axis::default(), (120, 80), |x, y| {
        ((x / 9.0).sin() * 3.0 + y / 13.0 + 3.0) as u8 % 9
    });
    let smooth = size(smooth);
    assert!(noise < 60_000 && smooth < 30_000, "{noise} and {smooth} bytes");
}
