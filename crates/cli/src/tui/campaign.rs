//! The completed runs of a campaign, and the current one.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use triphammer_runner::watch::JobEvent;
use triphammer_settings::format::{duration, figure, milliseconds};

use super::palette::Palette;

/// State of the runs of a campaign. The number of different runs is bounded.
#[derive(Debug, Default)]
pub struct Campaign {
    /// Runs that are complete.
    done: u32,
    /// Total number of runs; `None` if not known in advance.
    of: Option<u32>,
    /// The current run, or the last one.
    now: String,
    /// The pause before the next run.
    rest: Option<Duration>,
    /// Measurements, in the order of the first run of each kind.
    made: Vec<TitledRuns>,
}

/// Runs with one title: repeats of a level, or a probe.
#[derive(Debug)]
struct TitledRuns {
    title: String,
    runs: u32,
    /// Sums over the runs: of the primary metric, and of p95 in µs.
    sums: [f64; 2],
    rejected: u32,
}

impl Campaign {
    /// Updates the state from an event of the job.
    pub fn on_event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Sequence(begin) => (self.done, self.of) = (begin.done, begin.runs),
            JobEvent::Step { step, done, of } => {
                (self.done, self.of, self.rest) = (done, of, None);
                self.now.clone_from(&step.title);
            }
            JobEvent::StepEnded { step, result, .. } => {
                self.done += 1;
                let made = self.made(&step.title);
                made.runs += 1;
                let p95 = seconds(result.window.total.response.p95_us);
                made.sums = [made.sums[0] + result.primary_metric.value, made.sums[1] + p95];
            }
            JobEvent::StepRejected { step, .. } => self.made(&step.title).rejected += 1,
            JobEvent::Rest(rest) => self.rest = Some(rest),
            _ => {}
        }
    }

    fn made(&mut self, title: &str) -> &mut TitledRuns {
        let place = self.made.iter().position(|made| made.title == title);
        let place = place.unwrap_or_else(|| {
            let title = title.to_owned();
            self.made.push(TitledRuns { title, runs: 0, sums: [0.0; 2], rejected: 0 });
            self.made.len() - 1
        });
        &mut self.made[place]
    }

    /// The current run: `run 3 of 12: 8 virtual users`.
    pub fn current(&self) -> String {
        if self.now.is_empty() {
            return self.of.map_or_else(String::new, |of| format!("{of} runs"));
        }
        let of = self.of.map_or_else(String::new, |of| format!(" of {of}"));
        format!("run {}{of}: {}", self.done + 1, self.now)
    }

    /// Describes the pause between two runs.
    pub fn between(&self) -> String {
        match self.rest {
            Some(rest) => format!("cool-down of {}", duration(rest.as_secs_f64())),
            None => "connecting".to_owned(),
        }
    }

    /// Draws the completed runs; the newest kinds if there is not enough room for all.
    pub fn draw(&self, primary: &str, area: Rect, buffer: &mut Buffer) {
        let [title, list] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
        let line = [
            Span::styled(" Runs so far", Palette::strong()),
            Span::styled(format!("  {primary} and p95, means"), Palette::quiet()),
        ];
        Line::from_iter(line).render(title, buffer);
        let from = self.made.len().saturating_sub(list.height.into());
        let texts: Vec<_> = self.made[from..].iter().map(TitledRuns::texts).collect();
        let widest = texts.iter().map(|[_, figures]| figures.chars().count()).max().unwrap_or(0);
        let sides = [Constraint::Min(0), Constraint::Length(widest.try_into().unwrap_or(u16::MAX))];
        for (row, [title, text]) in list.rows().zip(texts) {
            let [name, figures] = Layout::horizontal(sides).spacing(1).areas(row);
            Line::from(title).render(name, buffer);
            Line::from(text).right_aligned().render(figures, buffer);
        }
    }
}

impl TitledRuns {
    /// Formats a line of the list: the run's title, a rate short enough for 80 columns, and the
    /// result.
    fn texts(&self) -> [String; 2] {
        [format!(" {}", self.title.replace(" transactions per second", "/s")), self.figures()]
    }

    fn figures(&self) -> String {
        if self.runs == 0 {
            return "could not be run".to_owned();
        }
        let [primary, p95] = self.sums.map(|sum| sum / f64::from(self.runs));
        let runs = if self.runs > 1 { format!("  ×{}", self.runs) } else { String::new() };
        format!("{}  {} ms{runs}", figure(primary), milliseconds(p95))
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown to a few digits")]
const fn seconds(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_and_their_figures_are_whole_in_half_of_80_columns() {
        let made = |title: &str| TitledRuns {
            title: title.to_owned(),
            runs: 2,
            sums: [40_600.0, 5_280.0],
            rejected: 0,
        };
        let made = vec![made("800 transactions per second"), made("8 virtual users, with 2 more")];
        let campaign = Campaign { made, ..Campaign::default() };
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 3));
        campaign.draw("NOPM", buffer.area, &mut buffer);
        let row = |y| (0..40).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        assert_eq!(row(1), " 800/s               20,300  2.64 ms  ×2");
        assert!(row(2).starts_with(" 8 virtual users, "), "{}", row(2));
    }
}
