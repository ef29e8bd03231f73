//! The list of workloads: the only place that names them all.

use triphammer_core::SpecError;

/// Hands the list of types to another macro of this crate. Adding a workload adds a line here.
#[doc(hidden)]
#[macro_export]
macro_rules! __workloads {
    ($then:ident! $($arguments:tt)*) => {
        $crate::$then! {
            [
                $crate::tproc_c::TprocC,
                $crate::tpc_b::TpcB,
            ]
            $($arguments)*
        }
    };
}

/// Runs an expression with the workload of a name as a type:
/// `with_workload!(name, W => W::TITLE)`. Gives `Err` with the known names when there is none of
/// that name; the expression is compiled once for each workload.
#[macro_export]
macro_rules! with_workload {
    ($name:expr, $workload:ident => $body:expr) => {
        $crate::__workloads!(__dispatch! $name, $workload => $body)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __dispatch {
    ([$($listed:ty),+ $(,)?] $name:expr, $workload:ident => $body:expr) => {
        match $name {
            $(
                <$listed as ::triphammer_core::workload::Workload>::NAME => {
                    type $workload = $listed;
                    ::core::result::Result::Ok($body)
                }
            )+
            other => ::core::result::Result::Err($crate::unknown(other)),
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    ([$($listed:ty),+ $(,)?]) => {
        &[$(<$listed as ::triphammer_core::workload::Workload>::NAME),+]
    };
}

/// Names of all workloads.
#[must_use]
pub fn names() -> &'static [&'static str] {
    crate::__workloads!(__names!)
}

/// What to answer to a name that no workload has.
#[must_use]
pub fn unknown(name: &str) -> SpecError {
    SpecError::new(format!("no workload is called `{name}`; there is {}", names().join(", ")))
}

#[cfg(test)]
mod tests {
    use triphammer_core::workload::Workload as _;

    #[test]
    fn a_name_leads_to_its_workload() {
        assert_eq!(with_workload!("tproc-c", W => W::TITLE), Ok("TPROC-C"));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = with_workload!("tproc-z", W => W::TITLE).unwrap_err().to_string();
        assert_eq!(error, "no workload is called `tproc-z`; there is tproc-c, tpc-b");
    }
}
