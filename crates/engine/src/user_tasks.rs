//! The users of a thread as one future, which polls those that were woken. A task of tokio's for each
//! would take several times as many instructions to be woken and polled (bench/instructions.py).

use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Users that are polled in one turn at most. The others have their turns after the thread's other
/// tasks, and each turn has a budget of its own for what tokio provides.
const TURN: usize = 32;

/// The users of a thread. Ready when all have ended.
pub(super) struct UserTasks<F, P> {
    tasks: Vec<UserTask<F>>,
    woken: Arc<WokenUsers>,
    /// Users whose turns have come, the first of them at `next`.
    turns: Vec<usize>,
    next: usize,
    /// Users that have not ended.
    left: usize,
    /// Called for a user whose code panicked.
    panicked: P,
}

struct UserTask<F> {
    /// `None` after it has ended.
    future: Option<Pin<Box<F>>>,
    state: Arc<UserWaker>,
    /// The same, as futures take it.
    waker: Waker,
}

/// The users that were woken since the last look, from any thread.
#[derive(Default)]
struct WokenUsers(Mutex<Woken>);

#[derive(Default)]
struct Woken {
    users: Vec<usize>,
    /// Wakes the future of all users; `None` while it is polled, and after it was woken.
    all: Option<Waker>,
}

/// Wakes one user.
struct UserWaker {
    user: usize,
    is_woken: AtomicBool,
    woken: Arc<WokenUsers>,
}

impl<F: Future<Output = ()>, P: FnMut() + Unpin> UserTasks<F, P> {
    pub fn new(users: impl IntoIterator<Item = F>, panicked: P) -> Self {
        let woken = Arc::<WokenUsers>::default();
        let task = |(user, future)| {
            let (is_woken, woken) = (AtomicBool::new(true), Arc::clone(&woken));
            let state = Arc::new(UserWaker { user, is_woken, woken });
            let waker = Waker::from(Arc::clone(&state));
            UserTask { future: Some(Box::pin(future)), state, waker }
        };
        let tasks: Vec<_> = users.into_iter().enumerate().map(task).collect();
        let count = tasks.len();
        Self { tasks, woken, turns: (0..count).collect(), next: 0, left: count, panicked }
    }

    /// Polls the users whose turns have come, at most [`TURN`] of them.
    fn take_turns(&mut self) {
        let end = self.turns.len().min(self.next + TURN);
        for turn in self.next..end {
            let user = self.turns[turn];
            self.poll_user(user);
        }
        self.next = end;
        if self.next == self.turns.len() {
            self.turns.clear();
            self.next = 0;
        }
    }

    #[inline]
    fn poll_user(&mut self, user: usize) {
        let UserTask { future: place, state, waker } = &mut self.tasks[user];
        let Some(future) = place else { return };
        // Before it is polled: what wakes it meanwhile gives it another turn.
        state.is_woken.store(false, Ordering::Release);
        let mut context = Context::from_waker(waker);
        // The state of a user whose code panicked is dropped, and nobody sees it.
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
        if matches!(polled, Ok(Poll::Pending)) {
            return;
        }
        let ended = place.take();
        self.left -= 1;
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(ended)));
        if polled.is_err() || dropped.is_err() {
            (self.panicked)();
        }
    }
}

impl<F: Future<Output = ()>, P: FnMut() + Unpin> Future for UserTasks<F, P> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.turns.is_empty() {
            mem::swap(&mut this.turns, &mut this.woken.lock().users);
        }
        this.take_turns();
        if this.left == 0 {
            return Poll::Ready(());
        }
        let mut woken = this.woken.lock();
        if this.turns.is_empty() && woken.users.is_empty() {
            woken.all = Some(context.waker().clone());
        } else {
            drop(woken);
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl WokenUsers {
    #[inline]
    fn lock(&self) -> MutexGuard<'_, Woken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for UserWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_woken.swap(true, Ordering::AcqRel) {
            return;
        }
        let all = {
            let mut woken = self.woken.lock();
            woken.users.push(self.user);
            woken.all.take()
        };
        if let Some(all) = all {
            all.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::time::Duration;

    use tokio::task::{LocalSet, yield_now};
    use tokio::time::sleep;

    use super::*;

    /// Runs users on a runtime of this thread, with virtual time.
    fn run<F: Future<Output = ()> + 'static>(users: Vec<F>) -> u64 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let mut panicked = 0;
        LocalSet::new().block_on(&runtime, UserTasks::new(users, || panicked += 1));
        panicked
    }

    #[test]
    fn users_are_polled_when_they_are_woken_and_in_turn() {
        let order = Rc::new(RefCell::new(Vec::new()));
        let user = |number: u64| {
            let order = Rc::clone(&order);
            async move {
                for _ in 0..2 {
                    sleep(Duration::from_secs(100 - number)).await;
                    order.borrow_mut().push(number);
                    yield_now().await;
                }
            }
        };
        assert_eq!(run((0..80).map(user).collect()), 0);
        let order = order.borrow();
        assert_eq!(order.len(), 160);
        assert_eq!(order[..2], [79, 78]);
        assert_eq!(order[159], 0);
    }

    #[test]
    fn a_user_that_never_waits_leaves_turns_to_the_others() {
        let over = Rc::new(std::cell::Cell::new(false));
        let mut users: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
        let busy = Rc::clone(&over);
        users.push(Box::pin(async move {
            while !busy.get() {
                yield_now().await;
            }
        }));
        users.push(Box::pin(async move {
            yield_now().await;
            over.set(true);
        }));
        assert_eq!(run(users), 0);
    }

    #[test]
    fn a_user_that_panics_ends_alone_and_is_counted() {
        let user = |number| async move {
            yield_now().await;
            assert_ne!(number, 1, "a panic of a test");
        };
        assert_eq!(run((0..3).map(user).collect()), 1);
    }

    #[test]
    fn users_are_woken_from_other_threads() {
        let user = |number: u64| async move {
            let (send, receive) = tokio::sync::oneshot::channel();
            let other = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(number % 7));
                let _ = send.send(());
            });
            receive.await.unwrap();
            other.join().unwrap();
        };
        assert_eq!(run((0..100).map(user).collect()), 0);
    }

    #[test]
    fn a_dropped_set_drops_its_users_and_late_wakes_do_nothing() {
        let alive = Rc::new(());
        let (send, receive) = tokio::sync::oneshot::channel::<()>();
        let held = Rc::clone(&alive);
        let user = async move {
            let _held = held;
            let _ = receive.await;
        };
        let mut users = Box::pin(UserTasks::new([user], || {}));
        let mut context = Context::from_waker(Waker::noop());
        assert!(users.as_mut().poll(&mut context).is_pending());
        drop(users);
        assert_eq!(Rc::strong_count(&alive), 1);
        let _ = send.send(());
    }
}
