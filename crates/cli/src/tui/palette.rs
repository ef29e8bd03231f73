//! Colours of the view.

use ratatui::style::{Color, Modifier, Style};

/// Colours by role: the terminal's own sixteen, which its owner chose to be seen on its background.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    colours: bool,
}

impl Palette {
    /// With colours, or without as `NO_COLOR` asks.
    pub const fn new(colours: bool) -> Self {
        Self { colours }
    }

    /// A colour, where there are colours.
    pub const fn of(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    /// A figure that is read first.
    pub const fn figure(self) -> Style {
        self.of(Color::Green)
    }

    /// What spoils a result.
    pub const fn bad(self) -> Style {
        self.of(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What explains the rest.
    pub const fn quiet() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What is read first.
    pub const fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The line at the top.
    pub const fn bar() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
