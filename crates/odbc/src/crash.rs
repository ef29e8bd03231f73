//! The message when a driver crashes. It runs in this process, so the process ends; without this,
//! the user would only see a signal, and not whose fault it is.
//!
//! The handler of the signals that end a process looks whether its thread is inside a driver. If so,
//! it names the driver and the call; then the signal takes its course, with a core dump where the
//! system makes them.

#[cfg(unix)]
pub(crate) use unix::{inside, install};

/// Elsewhere a crash is reported by the system only.
#[cfg(not(unix))]
pub(crate) fn install() {}

/// Makes a call.
#[cfg(not(unix))]
pub(crate) fn inside<T>(_driver: &str, _call: &'static str, work: impl FnOnce() -> T) -> T {
    work()
}

#[cfg(unix)]
mod unix {
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Once;

    /// The signals of crashes, with their names.
    const SIGNALS: [(c_int, &str); 5] = [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGABRT, "SIGABRT"),
    ];

    /// What a thread does inside a driver.
    struct Call<'a> {
        driver: &'a str,
        name: &'static str,
    }

    thread_local! {
        /// Constant and without a destructor, so that the handler may read it.
        static CALL: Cell<*const Call<'static>> = const { Cell::new(ptr::null()) };
    }

    /// What the signals did before: one of each of [`SIGNALS`].
    static mut BEFORE: [MaybeUninit<libc::sigaction>; SIGNALS.len()] =
        [const { MaybeUninit::uninit() }; SIGNALS.len()];

    /// Makes a call of a driver, and notes it meanwhile.
    #[inline]
    pub(crate) fn inside<T>(driver: &str, name: &'static str, work: impl FnOnce() -> T) -> T {
        let call = Call { driver, name };
        let before = CALL.replace((&raw const call).cast());
        let result = work();
        CALL.set(before);
        result
    }

    /// Handles the signals from now on.
    pub(crate) fn install() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (place, (signal, _)) in SIGNALS.iter().enumerate() {
                // SAFETY: all zeros are an action, whose fields are then set; the handler has the
                // type that SA_SIGINFO requires, and calls only what handlers may. It is written
                // before the handler is known, and by this thread alone.
                unsafe {
                    let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = crashed;
                    action.sa_sigaction = handler as libc::sighandler_t;
                    // On the stack that Rust's library gives its threads for signals: the driver's
                    // may have overflowed.
                    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    libc::sigemptyset(&raw mut action.sa_mask);
                    let before = (&raw mut BEFORE).cast::<libc::sigaction>().add(place);
                    libc::sigaction(*signal, ptr::null(), before);
                    libc::sigaction(*signal, &raw const action, ptr::null_mut());
                }
            }
        });
    }

    extern "C" fn crashed(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
        let Some(place) = SIGNALS.iter().position(|(known, _)| *known == signal) else { return };
        let call = CALL.get();
        if call.is_null() {
            // Not a driver's: as if this handler were not there. A fault repeats after the return; a
            // signal that was sent does not, so it is sent again.
            // SAFETY: written by `install`; both functions may be called in a handler, and the
            // system has passed information about the signal.
            unsafe {
                let before = (&raw const BEFORE).cast::<libc::sigaction>().add(place);
                libc::sigaction(signal, before, ptr::null_mut());
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
            return;
        }
        // SAFETY: a call that is noted lasts until its thread returns from it.
        let Call { driver, name } = unsafe { &*call };
        for text in [
            "\nerror: the ODBC driver of ",
            driver,
            " crashed in ",
            name,
            " (",
            SIGNALS[place].1,
            "). It runs inside this process, which ends with it.\n\
             Try the same connection string with `isql -k`; if that crashes too, update the driver. \
             `coredumpctl info` names the library.\n",
        ] {
            say(text);
        }
        // SAFETY: both may be called in a handler. The signal comes when the handler returns, with
        // the registers of the crash.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }

    /// Writes to stderr, as far as that takes it.
    fn say(text: &str) {
        // SAFETY: may be called in a handler; the text has that length.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    }
}
