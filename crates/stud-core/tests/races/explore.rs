//! Running a model in many orders.
#![expect(
    clippy::disallowed_methods,
    reason = "the person says through the environment how thoroughly to look"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use stud_core::Fault;

/// How many orders each model is run in, unless `STUD_SHUTTLE_SCHEDULES` says otherwise.
const SCHEDULES: usize = 1000;

/// A planted fault is looked for in at least this many orders, so that a short run does not accuse the tests.
const ENOUGH_TO_FIND: usize = 20_000;

/// The same orders in every run. `SHUTTLE_RANDOM_SEED` tries others.
const SEED: u64 = 0x0057_0D11;

/// Runs the model in many orders. It panics in the first one that breaks a promise.
///
/// With `STUD_SHUTTLE_REPLAY` it is run once, in the order that this file holds: what a failure printed as its schedule.
pub(crate) fn explore(model: fn()) {
    if let Ok(file) = std::env::var("STUD_SHUTTLE_REPLAY") {
        let schedule = ReplayScheduler::new_from_file(file).unwrap();
        return run_by(schedule, &Arc::new(model), &FailurePersistence::None);
    }
    run(schedules(), Arc::new(model), FailurePersistence::Print);
}

/// Checks that the model notices the fault, and gives up when it does not.
pub(crate) fn finds(fault: Fault, model: fn()) {
    let tried = Arc::new(AtomicUsize::new(0));
    let counted = {
        let tried = tried.clone();
        Arc::new(move || {
            tried.fetch_add(1, Ordering::Relaxed);
            model();
        })
    };
    let planted = fault.plant();
    let most = schedules().max(ENOUGH_TO_FIND);
    let found = catch_unwind(AssertUnwindSafe(|| {
        run(most, counted, FailurePersistence::None);
    }));
    drop(planted);
    let tried = tried.load(Ordering::Relaxed);
    assert!(found.is_err(), "{fault:?} was not found in {tried} orders");
    println!("{fault:?} was found in order {tried}");
}

/// Half of the orders are random. The others let one thread run for as long as it can but for a few interruptions,
/// which is where a rare bug is found soonest.
fn run(
    schedules: usize,
    model: Arc<impl Fn() + Send + Sync + 'static>,
    persistence: FailurePersistence,
) {
    let depths = [2, 3, 5];
    let each = schedules.div_ceil(2 * depths.len());
    for depth in depths {
        let scheduler = PctScheduler::new_from_seed(SEED, depth, each);
        run_by(scheduler, &model, &persistence);
    }
    let scheduler = RandomScheduler::new_from_seed(SEED, schedules.div_ceil(2));
    run_by(scheduler, &model, &persistence);
}

fn run_by(
    scheduler: impl Scheduler + 'static,
    model: &Arc<impl Fn() + Send + Sync + 'static>,
    persistence: &FailurePersistence,
) {
    let mut config = Config::new();
    // Core makes JSON on these stacks, and the default is meant for counters.
    config.stack_size = 256 << 10;
    config.max_steps = MaxSteps::FailAfter(100_000);
    config.failure_persistence = persistence.clone();
    // Every atomic is modelled as sequentially consistent; the note about it would be printed each time.
    config.silence_warnings = true;
    // What unwinds would continue in the model and could panic again.
    config
        .ungraceful_shutdown_config
        .immediately_return_on_panic = true;
    let model = model.clone();
    Runner::new(scheduler, config).run(move || model());
}

fn schedules() -> usize {
    let Ok(given) = std::env::var("STUD_SHUTTLE_SCHEDULES") else {
        return SCHEDULES;
    };
    match given.parse() {
        Ok(schedules) if schedules > 0 => schedules,
        _ => panic!("STUD_SHUTTLE_SCHEDULES is `{given}`, which is no number of schedules"),
    }
}
