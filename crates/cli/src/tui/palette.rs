//! Colours of the view.

use ratatui::style::{Color, Modifier, Style};

/// Colours by role, from the terminal's own sixteen, which are legible on its background.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    colours: bool,
}

impl Palette {
    /// Creates a palette with colours, or without if `NO_COLOR` is set.
    pub const fn new(colours: bool) -> Self {
        Self { colours }
    }

    /// A style with this colour, or without if colours are off.
    pub const fn of(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    /// Style of primary figures.
    pub const fn figure(self) -> Style {
        self.of(Color::Green)
    }

    /// Style of what invalidates a result.
    pub const fn bad(self) -> Style {
        self.of(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Style of labels and explanations.
    pub const fn quiet() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Style of emphasised text.
    pub const fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Style of the title line.
    pub const fn bar() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
