//! Large digits, drawn with half-block characters, which every terminal font has.

/// Height of a large figure, in rows.
pub const HEIGHT: u16 = 3;

/// The rows of a figure such as `12,345.6`.
pub fn lines(figure: &str) -> [String; 3] {
    let mut lines = [const { String::new() }; 3];
    for (place, digit) in figure.chars().enumerate() {
        for (line, row) in lines.iter_mut().zip(rows(digit)) {
            if place > 0 {
                line.push(' ');
            }
            line.push_str(row);
        }
    }
    lines
}

const fn rows(digit: char) -> [&'static str; 3] {
    match digit {
        '0' => ["█▀█", "█ █", "▀▀▀"],
        '1' => ["▀█ ", " █ ", "▀▀▀"],
        '2' => ["▀▀█", "█▀▀", "▀▀▀"],
        '3' => ["▀▀█", " ▀█", "▀▀▀"],
        '4' => ["█ █", "▀▀█", "  ▀"],
        '5' => ["█▀▀", "▀▀█", "▀▀▀"],
        '6' => ["█▀▀", "█▀█", "▀▀▀"],
        '7' => ["▀▀█", "  █", "  ▀"],
        '8' => ["█▀█", "█▀█", "▀▀▀"],
        '9' => ["█▀█", "▀▀█", "▀▀▀"],
        ',' => [" ", " ", "▌"],
        '.' => [" ", " ", "▀"],
        _ => ["   ", "▀▀▀", "   "],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_of_a_figure_are_as_long() {
        for figure in ["0123456789", "12,345", "0.52", "-"] {
            let widths = lines(figure).map(|line| line.chars().count());
            assert_eq!(widths, [widths[0]; 3], "{figure}");
        }
    }
}
