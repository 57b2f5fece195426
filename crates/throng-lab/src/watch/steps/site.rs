//! Computes the answer to a request for the page, a run, or a frame of it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;

use super::choice::{Choice, MAX_PROCESSORS, Structure};
use super::draw::{self, Form};
use super::layout::Layout;
use super::moment::Moment;
use super::recording::Recording;
use super::story;
use crate::watch::respond::{Answer, Answers, Content, ICON, Request, checked_host};

const PAGE: &str = include_str!("page.html");
const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Runs that are kept, so that not every frame runs anew.
const KEPT: usize = 8;

/// Longest part of an address behind the `?`.
const QUERY_BYTES_MAX: usize = 500;

/// A run with its layout.
struct Shown {
    address: String,
    recording: Recording,
    layout: Layout,
}

/// The page of a structure.
pub struct StepSite {
    /// What is shown where the address says nothing else.
    usual: Choice,
    usual_step: usize,
    /// Whether only this machine is served.
    loopback: bool,
    kept: Mutex<Vec<Arc<Shown>>>,
}

impl StepSite {
    /// Returns a page that shows a step of a run at first.
    pub fn new(usual: Choice, usual_step: usize, loopback: bool) -> Self {
        StepSite { usual, usual_step, loopback, kept: Mutex::default() }
    }

    /// Returns the address of a step of the usual run, behind the host.
    pub fn address(&self) -> String {
        format!("/?{}&step={}", self.usual, self.usual_step)
    }

    /// Returns the run of an address, and its step.
    fn shown(&self, query: &str) -> Result<(Arc<Shown>, usize), String> {
        let (choice, step) = self.usual.read(query)?;
        let address = choice.to_string();
        let step = step.unwrap_or(self.usual_step);
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().iter().find(|known| known.address == address) {
            return Ok((Arc::clone(known), step));
        }
        let recording = Recording::of(&choice).map_err(|error| format!("{error}."))?;
        let layout = Layout::of(&recording);
        let shown = Arc::new(Shown { address, recording, layout });
        let mut kept = lock();
        kept.insert(0, Arc::clone(&shown));
        kept.truncate(KEPT);
        Ok((shown, step))
    }

    fn run(&self, query: &str) -> Result<Answer, String> {
        let (shown, step) = self.shown(query)?;
        let recording = &shown.recording;
        let Choice { structure, processors, calls, seed, machine } = &recording.choice;
        let (summary, paper) = structure.about();
        let names = |kind: &str| -> Vec<&str> {
            let all = Structure::all().into_iter();
            all.filter(|structure| structure.kind() == kind).map(Structure::name).collect()
        };
        Ok(json_of(&json!({
            "address": shown.address,
            "kind": structure.kind(),
            "name": structure.name(),
            "summary": summary,
            "paper": paper,
            "processors": processors,
            "processors_max": MAX_PROCESSORS,
            "calls": calls,
            "seed": seed.to_string(),
            "machine": machine.argument,
            "step": step.min(recording.last()),
            "last": recording.last(),
            "is_cut": recording.is_cut,
            "events": story::events(recording),
            "counters": names("counter"),
            "barriers": names("barrier"),
        })))
    }

    fn frame(&self, query: &str) -> Result<Answer, String> {
        let (shown, step) = self.shown(query)?;
        let moment = Moment::of(&shown.recording, step);
        let now = moment.now();
        Ok(json_of(&json!({
            "step": moment.step,
            "cycle": now.map_or(0, |step| step.time),
            "cost": now.map_or(0, super::recording::Step::cost),
            "sentence": story::sentence(&moment, &shown.layout),
            "svg": draw::svg(&moment, &shown.layout, Form::Page),
        })))
    }

    fn still(&self, query: &str) -> Result<Answer, String> {
        let (shown, step) = self.shown(query)?;
        let moment = Moment::of(&shown.recording, step);
        let svg = draw::svg(&moment, &shown.layout, Form::File);
        Ok(Answer {
            status: 200,
            kind: "image/svg+xml",
            content: Content::Own(Cow::Owned(svg)),
            allow: None,
        })
    }
}

fn json_of(value: &serde_json::Value) -> Answer {
    Answer::json(200, Content::Own(Cow::Owned(value.to_string())))
}

impl Answers for StepSite {
    fn answer(&self, request: &Request) -> Answer {
        if let Err(refusal) = checked_host(request, self.loopback) {
            return refusal;
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let known = [
            "/",
            "/page.css",
            "/drawing.css",
            "/page.js",
            "/icon.svg",
            "/run",
            "/frame",
            "/still.svg",
        ];
        if !known.contains(&path) {
            return Answer::refusal(404, "There is nothing here; the page is at /.");
        }
        if !["GET", "HEAD"].contains(&request.method.as_str()) {
            let sentence = format!("{path} can only be asked for by GET, HEAD.");
            return Answer { allow: Some("GET, HEAD"), ..Answer::refusal(405, sentence) };
        }
        if query.len() > QUERY_BYTES_MAX {
            return Answer::refusal(400, "The address is too long.");
        }
        let answer = match path {
            "/run" => self.run(query),
            "/frame" => self.frame(query),
            "/still.svg" => self.still(query),
            "/page.css" => Ok(Answer::fixed("text/css; charset=utf-8", PAGE_STYLE)),
            "/drawing.css" => Ok(Answer::fixed("text/css; charset=utf-8", draw::STYLE)),
            "/page.js" => Ok(Answer::fixed("text/javascript; charset=utf-8", SCRIPT)),
            "/icon.svg" => Ok(Answer::fixed("image/svg+xml", ICON)),
            _ => Ok(Answer::fixed("text/html; charset=utf-8", PAGE)),
        };
        answer.unwrap_or_else(|sentence| Answer::refusal(400, sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> StepSite {
        let structure = Structure::counter("diffracting").unwrap();
        StepSite::new(Choice::of(structure).unwrap(), 0, true)
    }

    fn get(site: &StepSite, path: &str) -> Answer {
        let hosts = vec!["127.0.0.1:7171".to_owned()];
        let method = "GET".to_owned();
        site.answer(&Request { method, path: path.to_owned(), hosts, ..Request::default() })
    }

    #[test]
    fn the_page_and_each_structure_are_served() {
        let site = site();
        for (path, part) in [
            ("/", "<!doctype html>"),
            ("/?counter=funnel&seed=3&step=9", "<!doctype html>"),
            ("/page.css", "prefers-color-scheme"),
            ("/drawing.css", ".steps"),
            ("/page.js", "fetch("),
            ("/icon.svg", "<svg"),
        ] {
            let answer = get(&site, path);
            assert!(answer.status == 200 && answer.content.text().contains(part), "{path}");
        }
        for structure in Structure::all() {
            let query = format!("{}={}&seed=5&processors=6", structure.kind(), structure.name());
            let run = get(&site, &format!("/run?{query}"));
            let run: serde_json::Value = serde_json::from_str(run.content.text()).unwrap();
            assert_eq!(run["name"], structure.name());
            assert_eq!(run["seed"], "5");
            let last = run["last"].as_u64().unwrap();
            let ask = |step| get(&site, &format!("/frame?{query}&step={step}"));
            let frame: serde_json::Value = serde_json::from_str(ask(last).content.text()).unwrap();
            assert_eq!(frame["step"], last);
            assert!(frame["svg"].as_str().unwrap().starts_with("<svg "));
            assert_eq!(ask(last / 2).content.text(), ask(last / 2).content.text());
            let still = get(&site, &format!("/still.svg?{query}&step=3"));
            assert!(still.content.text().contains("<style>"), "{structure:?}");
        }
    }

    #[test]
    fn a_run_is_at_the_address_that_it_tells() {
        let site = site();
        let run = get(&site, "/run?counter=reactive&seed=18446744073709551615&processors=3&step=7");
        let run: serde_json::Value = serde_json::from_str(run.content.text()).unwrap();
        let address = run["address"].as_str().unwrap();
        assert_eq!(
            address,
            "counter=reactive&seed=18446744073709551615&processors=3&calls=12&machine=ideal"
        );
        let again = get(&site, &format!("/run?{address}&step=7"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(again.content.text()).unwrap(), run);
    }

    #[test]
    fn a_machine_of_a_file_is_shown_to_its_server_only() {
        let mut usual = site().usual;
        usual.machine.argument = "my machine&seed=9.toml".to_owned();
        let site = StepSite::new(usual, 0, true);
        let address = site.address();
        assert!(address.contains("&machine=my%20machine%26seed%3D9.toml&step=0"), "{address}");
        assert_eq!(get(&site, &address.replace("/?", "/run?")).status, 200);
        let other = StepSite::new(Choice::of(site.usual.structure).unwrap(), 0, true);
        assert_eq!(get(&other, &address.replace("/?", "/run?")).status, 400);
    }

    #[test]
    fn what_cannot_be_shown_is_refused_in_a_sentence() {
        let site = site();
        for (query, start) in [
            (
                "counter=difracting",
                "--counter difracting: no such counter; did you mean diffracting",
            ),
            ("barrier=funnel", "--barrier funnel: no such barrier"),
            ("processors=0", "processors=0: must be a whole number from 1 to 32"),
            ("processors=1000000", "processors=1000000: must be a whole number from 1 to 32"),
            ("calls=101", "calls=101: must be a whole number from 1 to 100"),
            ("seed=-1", "seed=-1: must be a whole number from 0"),
            ("step=x", "step=x: must be a whole number from 0"),
            ("machine=/etc/passwd", "machine /etc/passwd: no such machine"),
            ("nonsense", "nonsense: the address has no such part"),
        ] {
            let answer = get(&site, &format!("/frame?{query}"));
            assert_eq!(answer.status, 400, "{query}");
            assert!(answer.content.text().starts_with(start), "{}", answer.content.text());
        }
        assert_eq!(get(&site, &format!("/run?{}", "&".repeat(501))).status, 400);
        assert_eq!(get(&site, "/state").status, 404);
        let post =
            Request { method: "POST".to_owned(), path: "/run".to_owned(), ..Request::default() };
        let ours = |hosts: &[&str]| {
            let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
            site.answer(&Request { hosts, ..post.clone() }).status
        };
        assert_eq!((ours(&["localhost"]), ours(&["example.com"]), ours(&[])), (405, 421, 400));
    }

    #[test]
    fn few_runs_are_kept() {
        let site = site();
        for seed in 0..20 {
            assert_eq!(get(&site, &format!("/run?seed={seed}")).status, 200);
        }
        assert_eq!(site.kept.lock().unwrap().len(), KEPT);
    }
}
