import { RingmasterError } from "../../../../core/errors";
import { isOpen } from "../../../../core/runs/run-states";
import type { Run } from "../../../../core/runs/shapes";
import { cancelRun, closeInterruptedRun } from "../../../../core/training/close-run";
import { type JobEvent, takeJobEvent } from "../../../../core/training/job-event";
import { reconcileAll } from "../../../../core/training/reconcile";
import { trainingKeys } from "../../../../core/training/training-step";
import { preparedFeatures, resultOf, runOf } from "../../../support/fixtures";
import { ModelBatch, type ModelJob } from "./batch";
import { violationsAtRest, violationsNow } from "./invariants";
import { perform, runId } from "./perform";
import type { Fate, Outcome, Scenario } from "./scenario";
import { type Actor, type Option, Schedule } from "./schedule";
import { type Invocation, ModelExecution } from "./states";
import { type Ports, World } from "./world";

type Budget = "crash" | "double" | "drop" | "deaf" | "failure" | "loss" | "jump" | "speed" | "minute";

/** Longer than a wait without heartbeats lives. */
const slowMs = 40 * 60_000;
/** A concurrent reconciliation. */
const unhurriedMs = 90_000;
/** A function's time, and the platform's step towards it. */
const functionMs = 60_000;
const steps = 4_000;
const keys = trainingKeys(runId);

/** One run from its submission until everything is at rest, in the order that the scenario's choices say. */
export class Simulation {
  readonly schedule: Schedule;
  readonly world: World;
  readonly batch: ModelBatch;
  execution?: ModelExecution;
  /** The result was there while the run was open. */
  resultInTime = false;
  attemptsAtResult?: number;
  cancelled = false;
  readonly ends: string[] = [];
  deadInvocations = 0;
  private now = Date.parse("2026-01-01T00:00:00.000Z");
  private events: (Option & { readonly again: () => void })[] = [];
  private readonly deaths = new Map<Actor, () => void>();
  private readonly invocations = new Map<Actor, Invocation>();
  private readonly left: Record<Budget, number> = {
    crash: 4,
    double: 3,
    drop: 3,
    deaf: 2,
    failure: 4,
    loss: 7,
    jump: 4,
    speed: 2,
    minute: 3,
  };

  constructor(readonly scenario: Scenario) {
    this.schedule = new Schedule(scenario.choices);
    this.batch = new ModelBatch(
      () => this.now,
      (job) => this.tell(job, true),
      scenario.refusedFrom ?? Infinity,
    );
    this.world = new World({
      now: () => this.now,
      batch: () => this.batch,
      execution: () => this.execution,
      startExecution: () => this.startExecution(),
    });
  }

  get run(): Run {
    return this.world.runs.rows.get(runId)!.run;
  }
  get rows() {
    return this.world.runs.rows.get(runId)!;
  }

  async play(): Promise<Outcome> {
    const base = runOf(runId, { model: "digits", createdAt: new Date(this.now).toISOString() });
    const { retries, market } = this.scenario;
    const run = { ...base, job: { ...base.job, retries, resources: { ...base.job.resources, market } } };
    await this.world.runs.create(run);
    await this.world.runs.recordStep(runId, preparedFeatures);
    this.actor("submit", ({ executions }) => executions.start({ runId }));

    let violations: readonly string[] = [];
    for (let step = 0; step < steps && !this.isAtRest() && violations.length === 0; step += 1) {
      this.now += 1;
      await this.schedule.next(this.options());
      if (isOpen(this.run.status) && this.world.objects.has(keys.result)) {
        this.resultInTime = true;
        this.attemptsAtResult ??= this.rows.attempts.size;
      }
      violations = violationsNow(this);
    }
    if (violations.length === 0) violations = this.isAtRest() ? violationsAtRest(this) : ["it never comes to rest"];
    return { violations, log: this.schedule.log, widths: this.schedule.widths, run: this.run };
  }

  private isAtRest(): boolean {
    const { listed, run } = this.rows;
    const quiet = this.schedule.actors.size === 0 && this.events.length === 0;
    return quiet && !isOpen(run.status) && !listed && this.execution?.status !== "running";
  }

  /** Returns the possible next events, the undisturbed course first. */
  private options(): readonly Option[] {
    const { world = false, newest = false } = this.scenario.first ?? {};
    const calls = newest ? [...this.schedule.calls()].reverse() : this.schedule.calls();
    const others = [...this.events, ...this.batch.live().flatMap((job) => this.jobGoesOn(job))];
    return [...(world ? [...others, ...calls] : [...calls, ...others]), ...this.minute(), ...this.disturbances()];
  }

  private jobGoesOn(job: ModelJob): readonly Option[] {
    const { jobId } = job;
    if (job.status === "RUNNABLE") {
      const act = () => {
        job.status = "RUNNING";
        job.startedAt = this.now;
        this.tell(job, false);
      };
      return [{ label: `${jobId} starts`, act }];
    }
    const fate = this.scenario.fates?.[this.batch.jobs.indexOf(job)] ?? "succeeds";
    const takesMs = fate === "slow" ? slowMs : fate === "unhurried" ? unhurriedMs : 0;
    if (this.now - (job.startedAt ?? 0) < takesMs) return [];
    const hasResult = this.world.objects.has(keys.result);
    const ends = {
      succeeds: "succeeds",
      unhurried: "succeeds",
      slow: "succeeds",
      "fails-with-result": "fails-silently",
    } as const;
    if (!(fate in ends)) return [{ label: `${jobId} ${fate}`, act: this.failure(job, fate) }];
    if (!hasResult) {
      const act = () => void this.world.objects.set(keys.result, JSON.stringify(resultOf(runId)));
      return [{ label: `${jobId} writes its result`, act }];
    }
    const end = ends[fate as keyof typeof ends];
    const act = end === "succeeds" ? () => this.batch.end(job, "SUCCEEDED") : this.failure(job, end);
    return [{ label: `${jobId} ${end}`, act }];
  }

  private failure(job: ModelJob, fate: Fate): () => void {
    const exited = "Essential container in task exited";
    return () => {
      if (fate === "fails" || fate === "fails-for-good") {
        const code = fate === "fails" ? "TRAINER_ERROR" : "USER_CODE";
        const document = { runId, code, message: code, retryable: fate === "fails", failedAt: "" };
        this.world.objects.set(keys.failure(job.jobId), JSON.stringify(document));
      }
      this.batch.end(job, "FAILED", fate === "lost" ? "Host EC2 (instance i-1) terminated." : exited);
    };
  }

  private minute(): readonly Option[] {
    const act = () => {
      this.pass(60_000);
      this.actor("reconcile", async (ports) =>
        reconcileAll(await ports.runs.listOpen(), {
          forTeam: () => ports,
          meter: ports.meter,
          clock: ports.clock,
          until: this.now + 45_000,
          onDone: () => undefined,
          onError: () => undefined,
        }),
      );
    };
    const option = { label: "a minute passes: reconcile", act };
    // Nothing that was sent to Batch is on its way for so long: the client gives up before.
    if (this.isSubmitting()) return [];
    if (this.schedule.actors.size === 0) return [option];
    return this.spend("minute", option);
  }

  private disturbances(): readonly Option[] {
    const found: Option[] = [];
    const offer = (budget: Budget, label: string, act: () => void) => found.push(...this.spend(budget, { label, act }));
    for (const actor of this.schedule.actors) offer("crash", `${actor.name} dies`, () => this.kill(actor));
    for (const [actor, invocation] of this.invocations) {
      if (this.execution?.hears(invocation.id))
        offer("deaf", `${actor.name} is not heard any more, and lives`, () => this.fail(invocation));
    }
    for (const event of this.events) {
      offer("double", `${event.label}, and will be again`, () => {
        event.act();
        event.again();
      });
      offer("drop", `${event.label}: lost`, () => void this.events.splice(this.events.indexOf(event), 1));
    }
    for (const job of this.batch.live()) {
      if (job.status !== "RUNNING") continue;
      for (const fate of ["fails-silently", "fails"] as const)
        offer("failure", `${job.jobId} ${fate}`, this.failure(job, fate));
      if (!this.world.objects.has(keys.result))
        offer("failure", `${job.jobId} fails-for-good`, this.failure(job, "fails-for-good"));
      offer("speed", `${job.jobId} writes its result and succeeds`, () => {
        this.world.objects.set(keys.result, JSON.stringify(resultOf(runId)));
        this.batch.end(job, "SUCCEEDED");
      });
      offer("loss", `${job.jobId} lost`, this.failure(job, "lost"));
    }
    if (!this.cancelled) {
      found.push({
        label: "a person cancels",
        act: () => {
          this.cancelled = true;
          this.actor("cancel", async (ports) => void (await cancelRun(ports, runId, "a person")));
        },
      });
    }
    if (!this.isSubmitting()) {
      for (const ms of [11_000, 31_000, 960_000]) offer("jump", `${ms / 1000} s pass`, () => this.pass(ms));
    }
    return found;
  }

  /** A disturbance happens a few times at the most, so that the run can come to rest. */
  private spend(budget: Budget, { label, act }: Option): readonly Option[] {
    if (this.left[budget] === 0) return [];
    return [
      {
        label,
        act: () => {
          this.left[budget] -= 1;
          act();
        },
      },
    ];
  }

  private isSubmitting(): boolean {
    return [...this.schedule.actors].some((actor) => this.schedule.isAt(actor, "jobs.submit"));
  }

  private pass(ms: number): void {
    this.now += ms;
    for (const actor of this.schedule.actors) if (this.now - actor.startedAt > functionMs) this.kill(actor);
    this.execution?.tick();
  }

  private actor(name: string, work: (ports: Ports) => Promise<unknown>, onDeath?: () => void): Actor {
    const actor = this.schedule.start(name, this.now, async (self) => {
      try {
        await work(this.world.portsFor(self));
      } catch (error) {
        if (!(error instanceof RingmasterError)) throw error;
      }
    });
    if (onDeath) this.deaths.set(actor, onDeath);
    return actor;
  }

  private kill(actor: Actor): void {
    this.schedule.kill(actor);
    this.invocations.delete(actor);
    this.deaths.get(actor)?.();
  }

  private startExecution(): void {
    this.execution ??= new ModelExecution(
      () => this.now,
      (invocation) => this.invoke(invocation),
      (status) =>
        this.event(`execution ${status}`, (ports) =>
          closeInterruptedRun(ports, { runId }, status, undefined, undefined),
        ),
    );
  }

  private invoke(invocation: Invocation): void {
    const work = async (ports: Ports) => {
      try {
        await perform(ports, invocation);
      } catch (error) {
        const code = error instanceof RingmasterError ? error.code : "Error";
        this.execution?.threw(invocation, { Error: code, Cause: String(error) }, false);
        return;
      }
      this.execution?.returned(invocation);
    };
    const actor = this.actor(invocation.state, work, () => this.fail(invocation));
    this.invocations.set(actor, invocation);
  }

  private fail(invocation: Invocation): void {
    this.deadInvocations += 1;
    this.execution?.threw(invocation, { Error: "Sandbox.Timedout" }, true);
  }

  private tell(job: ModelJob, ended: boolean): void {
    const event: JobEvent = {
      runId,
      ended,
      worker: {
        workerIndex: 0,
        jobId: job.jobId,
        attempt: job.request.attempt,
        status: job.status,
        startedAt: this.now,
        attempts: ended ? [{ startedAt: this.now, stoppedAt: this.now, reason: job.reason }] : [],
      },
    };
    this.event(`${job.jobId} is ${job.status}`, (ports) => takeJobEvent(ports, "default", event));
  }

  /** At least once: a delivery whose function dies is made again, twice. */
  private event(label: string, work: (ports: Ports) => Promise<unknown>, tries = 3): void {
    const option = {
      label: `event: ${label}`,
      again: () => this.event(label, work, tries),
      act: () => {
        this.events = this.events.filter((one) => one !== option);
        this.actor(`event ${label}`, work, () => tries > 1 && this.event(label, work, tries - 1));
      },
    };
    this.events.push(option);
  }
}
