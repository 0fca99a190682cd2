//! The preparation of a worker for a run: the packet is fetched, the machine checks it, and the clock is probed.

use pacing::Nanos;

use super::clock::AT_A_TIME;
use super::{Act, FETCH_AGAIN, MISSING_MAX, PROBES_WITHIN, Pending, Probes, RunStage, Worker};
use crate::bus::{BusCommand, Bytes, asking};
use crate::protocol::{Ask, Ready, Refusal, Standing};

impl Worker {
    pub(super) fn fetched(&mut self, object: Option<Bytes>, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        let RunStage::Fetches(_, missing) = &mut run.stage else { return };
        match object {
            Some(packet) => {
                run.stage = RunStage::Prepares;
                self.acts.push_back(Act::Prepare { run: run.run, plan: run.plan.clone(), packet });
            }
            None if now.since(*missing.get_or_insert(now)) >= MISSING_MAX => self.refuse(Refusal::Missing),
            None => {}
        }
    }

    /// Handles the result of the preparation: it is ready for a run, or will not take part. `warmup`: of the plan.
    pub fn prepared(&mut self, of: u64, result: Result<Nanos, Refusal>, now: Nanos) {
        let Some(run) = self.run.as_mut().filter(|run| run.run == of) else { return };
        match result {
            Ok(warmup) => {
                run.warmup = warmup;
                run.stage = RunStage::Asks(now);
            }
            Err(refusal) => self.say_standing(Err(refusal)),
        }
        self.run_due(now);
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.acts.push_back(Act::Refuse(refusal.clone()));
        self.say_standing(Err(refusal));
    }

    fn say_standing(&mut self, ready: Result<Ready, Refusal>) {
        let Some(run) = &mut self.run else { return };
        run.stage = RunStage::Stamped;
        self.hello.standing = Some(Standing { run: run.run, plan: run.plan.clone(), ready });
        // It is reported at once, and with each hello.
        self.said_at = None;
    }

    /// Fetches the packet, and probes the clock.
    pub(super) fn get_ready(&mut self, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        let is_asking = |pending: &Pending| matches!(pending, Pending::Time(..));
        match run.stage {
            RunStage::Fetches(since, missing) if now.since(since) >= FETCH_AGAIN || since == Nanos::ZERO => {
                run.stage = RunStage::Fetches(now.max(Nanos(1)), missing);
                let name = run.plan.clone();
                self.ask(Pending::Fetch, now, |token| BusCommand::Fetch { token, name });
            }
            RunStage::Asks(since) => {
                let Some(who) = self.leader.as_ref().map(|lease| lease.who) else { return };
                if std::mem::replace(&mut run.clock_of, who) != who {
                    // Probes of another clock say nothing of this one.
                    (run.probes, run.offset) = (Probes::default(), None);
                }
                let is_late = now.since(since) >= PROBES_WITHIN;
                let answered = run.probes.answered();
                if answered >= self.pace.probes() || (is_late && answered >= self.pace.probes_min()) {
                    let (best, clock_of) = (run.probes.best(), who);
                    run.offset = best;
                    let round_trip = best.map_or(Nanos::ZERO, |best| best.round_trip);
                    return self.say_standing(Ok(Ready { round_trip, clock_of }));
                }
                if is_late {
                    return self.refuse(Refusal::Clock);
                }
                let patience = run.probes.patience();
                let recent = |(pending, since): &&(Pending, Nanos)| is_asking(pending) && now.since(*since) < patience;
                if self.pending.values().filter(recent).count() >= AT_A_TIME as usize {
                    return;
                }
                run.probes.ask();
                let (subject, payload) = (asking(who), Ask::Time.written(&self.hello));
                self.ask(Pending::Time(now, who), now, |token| BusCommand::Request { token, subject, payload });
            }
            _ => {}
        }
    }
}
