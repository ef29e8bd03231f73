//! What happens when a thread ends: each test has a thread of its own.

use std::cell::RefCell;

type Task = Box<dyn FnOnce()>;

thread_local! {
    static TASKS: Tasks = const { Tasks(RefCell::new(Vec::new())) };
}

struct Tasks(RefCell<Vec<Task>>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|task| task());
    }
}

/// Has `task` run when this thread ends. The main thread, and threads that outlive it, may end without.
pub(crate) fn at_thread_end(task: impl FnOnce() + 'static) {
    TASKS.with(|tasks| tasks.0.borrow_mut().push(Box::new(task)));
}
