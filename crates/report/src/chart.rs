//! Draws a curve through measured points with characters, for a terminal of 80 columns.

use triphammer_settings::format::figure;

use super::table::width;

/// Columns of a chart, including its labels.
const COLUMNS: usize = 78;
/// Rows between the axes.
const ROWS: usize = 16;
/// Ratio of the highest to the lowest level above which the axis of users is logarithmic.
const LOGARITHMIC: f64 = 8.0;
/// Largest ratio of the top of a chart to its highest value, as on the page.
const TOP_MAX: f64 = 3.0;
/// Approximate number of steps between labels of the vertical axis.
const TICKS: f64 = 5.0;

/// The character set of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// Unicode, with box-drawing characters and bullets.
    Unicode,
    /// ASCII only.
    Ascii,
}

/// The characters of a chart.
struct Marks {
    point: char,
    bar: char,
    curve: char,
    peak: char,
    upright: char,
    tick: char,
    corner: char,
    level: char,
    under: char,
}

impl Charset {
    /// The characters, and the legend.
    const fn marks(self) -> Marks {
        match self {
            Self::Unicode => Marks {
                point: '●',
                bar: '│',
                curve: '·',
                peak: '◆',
                upright: '│',
                tick: '┤',
                corner: '└',
                level: '─',
                under: '┬',
            },
            Self::Ascii => Marks {
                point: 'o',
                bar: '|',
                curve: '.',
                peak: '^',
                upright: '|',
                tick: '+',
                corner: '+',
                level: '-',
                under: '+',
            },
        }
    }
}

/// A measured point of the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChartPoint {
    /// Number of virtual users.
    pub users: u32,
    /// Value of the primary metric.
    pub value: f64,
    /// Confidence interval of the value; `None` if there is none.
    pub range: Option<(f64, f64)>,
}

/// Data of a chart.
pub(super) struct Chart<'a> {
    /// Measured points, ascending in users; at least one.
    pub points: &'a [ChartPoint],
    /// The fitted curve; `None` if there is none.
    pub curve: Option<&'a dyn Fn(f64) -> f64>,
    /// Users and value of the peak; `None` if there is none.
    pub peak: Option<(f64, f64)>,
    /// Title of the vertical axis.
    pub title: &'a str,
    /// Unit of the horizontal axis.
    pub unit: &'a str,
}

/// Maps values to positions on the grid.
struct Scale {
    columns: usize,
    top: f64,
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Scale {
    fn column(&self, users: f64) -> usize {
        let place = |users: f64| if self.logarithmic { users.ln() } else { users };
        let span = place(self.high) - place(self.low);
        let share = if span > 0.0 { (place(users) - place(self.low)) / span } else { 0.5 };
        whole(share * (self.columns - 1) as f64).min(self.columns - 1)
    }

    /// Number of users at the middle of a column.
    fn users(&self, column: usize) -> f64 {
        let share = column as f64 / (self.columns - 1).max(1) as f64;
        match self.logarithmic {
            true => self.low * (self.high / self.low).powf(share),
            false => self.low + (self.high - self.low) * share,
        }
    }

    /// The row of a value, 0 at the top; `None` outside the grid.
    fn row(&self, value: f64) -> Option<usize> {
        let share = value / self.top;
        (0.0..=1.0).contains(&share).then(|| whole((1.0 - share) * (ROWS - 1) as f64))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place on a grid: small, and a float saturates"
)]
fn whole(number: f64) -> usize {
    number.round() as usize
}

/// Renders the chart as lines without trailing spaces, at most 80 columns wide.
pub(super) fn lines(chart: &Chart<'_>, charset: Charset) -> Vec<String> {
    let marks = charset.marks();
    let (first, last) = (chart.points.first(), chart.points.last());
    let low = first.map_or(1.0, |point| f64::from(point.users));
    let high = last.map_or(1.0, |point| f64::from(point.users));
    let top = chart.points.iter().map(|p| p.range.map_or(p.value, |(_, high)| high));
    let top = top.fold(chart.peak.map_or(0.0, |(_, value)| value), f64::max);
    // The interval of a few repeats that differ much would leave the values on the ground.
    let highest = chart.points.iter().map(|point| point.value);
    let highest = highest.fold(chart.peak.map_or(0.0, |(_, value)| value), f64::max);
    let top = if highest > 0.0 { top.min(highest * TOP_MAX) } else { top };
    let step = nice(top / TICKS);
    let top = (top / step).ceil().max(1.0) * step;
    let labels = width(&figure(top)).max(width(chart.title)).min(16);
    let scale = Scale {
        columns: COLUMNS - labels - 5,
        top,
        low,
        high,
        logarithmic: high / low >= LOGARITHMIC,
    };
    let grid = draw(chart, &scale, &marks);
    let mut lines = vec![format!("  {:>labels$}", chart.title)];
    for (row, cells) in grid.iter().enumerate() {
        let label = (0..=whole(top / step))
            .map(|tick| tick as f64 * step)
            .find(|value| scale.row(*value) == Some(row));
        let (label, edge) = match label {
            Some(value) => (figure(value), marks.tick),
            None => (String::new(), marks.upright),
        };
        let cells: String = cells.iter().collect();
        lines.push(format!("  {label:>labels$} {edge} {cells}").trim_end().to_owned());
    }
    lines.extend(axis(chart, &scale, &marks, labels));
    lines.push(legend(chart, &marks, labels));
    lines
}

fn draw(chart: &Chart<'_>, scale: &Scale, marks: &Marks) -> Vec<Vec<char>> {
    let mut grid = vec![vec![' '; scale.columns]; ROWS];
    if let Some(curve) = chart.curve {
        let rows = (0..scale.columns).map(|column| scale.row(curve(scale.users(column))));
        for (column, row) in rows.enumerate() {
            if let Some(row) = row {
                grid[row][column] = marks.curve;
            }
        }
    }
    for point in chart.points {
        let column = scale.column(f64::from(point.users));
        if let Some((low, high)) = point.range
            && let (Some(bottom), Some(top)) =
                (scale.row(low.max(0.0)), scale.row(high.min(scale.top)))
        {
            grid[top..=bottom].iter_mut().for_each(|row| row[column] = marks.bar);
        }
    }
    if let Some((users, value)) = chart.peak
        && (scale.low..=scale.high).contains(&users)
        && let Some(row) = scale.row(value)
    {
        grid[row][scale.column(users)] = marks.peak;
    }
    for point in chart.points {
        if let Some(row) = scale.row(point.value) {
            grid[row][scale.column(f64::from(point.users))] = marks.point;
        }
    }
    grid
}

/// The axis of users, with the levels that exists room for.
fn axis(chart: &Chart<'_>, scale: &Scale, marks: &Marks, labels: usize) -> [String; 2] {
    let mut line = vec![marks.level; scale.columns];
    let mut text = vec![' '; scale.columns + 2];
    let mut free = 0;
    for point in chart.points {
        let column = scale.column(f64::from(point.users));
        line[column] = marks.under;
        let label = point.users.to_string();
        let last = text.len().saturating_sub(label.len());
        let start = column.saturating_sub((label.len() - 1) / 2).min(last);
        if start >= free {
            for (cell, digit) in text[start..].iter_mut().zip(label.chars()) {
                *cell = digit;
            }
            free = start + label.len() + 1;
        }
    }
    let indent = " ".repeat(labels + 3);
    let (corner, level) = (marks.corner, marks.level);
    [
        format!("{indent}{corner}{level}{}", line.iter().collect::<String>()),
        format!("{indent}  {}", text.iter().collect::<String>()).trim_end().to_owned(),
    ]
}

fn legend(chart: &Chart<'_>, marks: &Marks, labels: usize) -> String {
    let mut parts = vec![format!("{} measured", marks.point)];
    if chart.points.iter().any(|point| point.range.is_some()) {
        parts.push(format!("{} 95 %", marks.bar));
    }
    if chart.curve.is_some() {
        parts.push(format!("{} fitted", marks.curve));
    }
    if chart.peak.is_some() {
        parts.push(format!("{} peak", marks.peak));
    }
    format!("{}{}     {}", " ".repeat(labels + 5), chart.unit, parts.join("   "))
}

/// The next of 1, 2, 5, 10, 20, … that is not smaller.
fn nice(step: f64) -> f64 {
    if !step.is_finite() || step <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(users: u32, value: f64) -> ChartPoint {
        ChartPoint { users, value, range: None }
    }

    #[test]
    fn steps_are_round() {
        for (step, round) in [(0.7, 1.0), (1.0, 1.0), (1.3, 2.0), (230.0, 500.0), (6e4, 1e5)] {
            assert!((nice(step) - round).abs() < 1e-9 * round, "{step}");
        }
        assert_eq!((nice(0.0), nice(f64::NAN)), (1.0, 1.0));
    }

    #[test]
    fn odd_charts_neither_fail_nor_grow_too_wide() {
        let many: Vec<ChartPoint> = (1..200).map(|users| point(users, 0.001)).collect();
        for points in [
            vec![point(1, 0.0)],
            vec![point(7, 1e12)],
            vec![point(1, 5.0), point(1_000_000, 0.0)],
            many,
        ] {
            for charset in [Charset::Unicode, Charset::Ascii] {
                let line = |users: f64| 1e6 * users - 10.0;
                let curve: Option<&dyn Fn(f64) -> f64> = Some(&line);
                let chart = Chart {
                    points: &points,
                    curve,
                    peak: Some((9.0, 3.0)),
                    title: "NOPM",
                    unit: "virtual users",
                };
                for line in lines(&chart, charset) {
                    assert!(width(&line) <= 80, "{line}");
                    assert!(charset == Charset::Unicode || line.is_ascii(), "{line}");
                }
            }
        }
    }
}
