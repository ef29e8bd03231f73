//! The parts of reports about the CPUs of hosts over time: a compact map with a digit per cell, and the verdict.

use triphammer_document::result::{CoreMap, CpuRow, Observed};
use triphammer_settings::format::{duration, figure, integer, percent};

use super::table::Table;

/// Signs of a row of a map: a text report has 80 columns.
const SIGNS_MAX: usize = 36;
/// Maximum number of rows of a map in a text report.
const ROWS_MAX: usize = 64;
/// Minimum share of interrupts for their columns.
const INTERRUPTS_MIN: f64 = 0.005;

/// A map with what is written before and after it.
pub(super) struct CoreMapText {
    /// Heading.
    pub heading: String,
    /// The CPUs, one per row.
    pub table: Table,
    /// The meaning of the signs, and the verdict.
    pub sentences: Vec<String>,
}

/// The maps of all hosts with two or more CPUs.
pub(super) fn maps(observed: &Observed) -> Vec<CoreMapText> {
    observed.cores.iter().filter(|map| map.cpus.len() > 1).map(text).collect()
}

fn text(map: &CoreMap) -> CoreMapText {
    let heading = format!("CPUs of {} in the window, busy over time", map.of_host());
    let per_sign = map.columns().div_ceil(SIGNS_MAX).max(1);
    let seconds = per_sign as f64 * map.column_s as f64;
    let mut sentences = vec![format!(
        "each sign is {}: . is idle, 1 to 9 are tenths of the time, # is saturated",
        duration(seconds)
    )];
    if let Some(balance) = &map.balance {
        let verdict = if balance.uneven.is_some() { "uneven: " } else { "" };
        let next = balance.advice.as_ref().map_or_else(String::new, |next| format!(" → {next}"));
        sentences.push(format!("{verdict}{}{next}", balance.words));
    }
    let shown = shown(map);
    if shown.len() < map.cpus.len() {
        let left_out = integer((map.cpus.len() - shown.len()) as u64);
        sentences.push(format!("{left_out} less busy CPUs are left out; --json has all"));
    }
    CoreMapText { heading, table: table(&shown, per_sign), sentences }
}

/// The busiest CPUs, by number.
fn shown(map: &CoreMap) -> Vec<&CpuRow> {
    let mut rows: Vec<&CpuRow> = map.cpus.iter().collect();
    rows.sort_by(|a, b| b.busy.total_cmp(&a.busy));
    rows.truncate(ROWS_MAX);
    rows.sort_by_key(|row| row.cpu);
    rows
}

fn table(rows: &[&CpuRow], per_sign: usize) -> Table {
    let has = |read: fn(&CpuRow) -> bool| rows.iter().any(|row| read(row));
    let has_nodes = rows.iter().any(|row| row.node.is_some() && row.node != rows[0].node);
    let has_interrupts = has(|row| row.hard + row.soft >= INTERRUPTS_MIN);
    let has_tasks = has(|row| row.server_tasks.is_some());
    let has_frequency = has(|row| row.mhz.is_some());
    let mut head = vec!["CPU", "over time"];
    head.extend(has_nodes.then_some("node"));
    head.push("busy");
    head.extend(has_interrupts.then_some(["hard irq", "soft irq"]).into_iter().flatten());
    head.extend(has_tasks.then_some("tasks"));
    head.extend(has_frequency.then_some("GHz"));
    let mut table = Table::new(2, &head);
    for row in rows {
        let mut cells = vec![row.cpu.to_string(), signs(&row.columns.busy, per_sign)];
        cells.extend(has_nodes.then(|| row.node.map_or_else(String::new, |node| node.to_string())));
        cells.push(percent(row.busy));
        if has_interrupts {
            cells.extend([row.hard, row.soft].map(percent));
        }
        cells.extend(has_tasks.then(|| row.server_tasks.map(figure).unwrap_or_default()));
        cells.extend(
            has_frequency.then(|| row.mhz.map(|mhz| figure(mhz / 1e3)).unwrap_or_default()),
        );
        table.row(cells);
    }
    table
}

/// A sign for so many columns each: the tenth of their mean; a space where nothing was measured.
fn signs(columns: &[Option<u8>], per_sign: usize) -> String {
    let sign = |of: &[Option<u8>]| {
        let known: Vec<u32> = of.iter().flatten().map(|percent| u32::from(*percent)).collect();
        let count = u32::try_from(known.len()).unwrap_or(u32::MAX);
        match known.iter().sum::<u32>().checked_div(count) {
            None => ' ',
            Some(..5) => '.',
            Some(95..) => '#',
            Some(percent) => char::from_digit((percent + 5) / 10, 10).unwrap_or('9'),
        }
    };
    columns.chunks(per_sign).map(sign).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use triphammer_document::result::{CoreMapper, CpuSecond};

    use super::*;

    fn map(cpus: u32, seconds: u64) -> CoreMap {
        let mut mapper = CoreMapper::default();
        for second in 0..seconds {
            let of = |cpu: u32| CpuSecond {
                busy: if cpu == 1 { 1.0 } else { 0.2 },
                soft: if cpu == 0 { 0.1 } else { 0.0 },
                ..CpuSecond::default()
            };
            mapper.take(second, (0..cpus).map(|cpu| (cpu, of(cpu))));
        }
        mapper.finish(None, &BTreeMap::new()).unwrap()
    }

    #[test]
    fn the_map_of_a_run_fits_a_terminal_and_shows_the_saturated_cpu() {
        let found = text(&map(4, 100));
        let lines = found.table.lines(2);
        assert!(lines.iter().all(|line| line.len() < 78), "{lines:#?}");
        assert!(
            lines[1].starts_with("0    222222") && lines[2].starts_with("1    ######"),
            "{lines:#?}"
        );
        assert_eq!(found.table.rows[1][2..], ["20 %", "0 %", "10 %"]);
        assert!(found.sentences[0].starts_with("each sign is 3s:"), "{:?}", found.sentences);
        assert!(
            found.sentences[1].starts_with("uneven: CPU 1 was 100 % busy"),
            "{:?}",
            found.sentences
        );
    }

    #[test]
    fn gaps_are_spaces_and_the_busiest_of_many_cpus_are_shown() {
        assert_eq!(signs(&[Some(0), Some(14), None, Some(94), Some(100)], 1), ".1 9#");
        assert_eq!(signs(&[Some(0), Some(100), None, Some(10)], 2), "51");
        let found = text(&map(100, 10));
        assert_eq!((found.table.rows.len(), found.sentences.len()), (ROWS_MAX + 1, 3));
        assert!(found.table.rows.iter().any(|row| row[0] == "1"), "the busiest one");
    }
}
