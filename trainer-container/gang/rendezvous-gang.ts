import { randomBytes } from "node:crypto";
import { backoffMs } from "../../core/backoff";
import { GenerationLostError, RankUnreachableError } from "../collective/errors";
import type { Listener } from "../collective/listener";
import type { Mesh } from "../collective/mesh";
import { type Decision, decide, decideFromHead, type GangLimits } from "./decide";
import { Alarm, type GangEnvironment, processEnvironment, withDeadline } from "./environment";
import {
  type Gang,
  GangCompletedError,
  GangLeftError,
  GangMemberReplacedError,
  GangRunEndedError,
  type Generation,
} from "./gang";
import { byOwnClock } from "./lease-observer";
import { Membership } from "./membership";
import { MeshGeneration } from "./mesh-generation";
import { startMonitor } from "./monitor-loop";
import { defaultGangTiming, type GangOptions, type GangTiming, limitsOf } from "./options";
import type { GangHead, GangRecords } from "./store";
import { reportsLoss, Slowest, timingOf, withSurvivorCall } from "./timing";
import { Watch } from "./watch";

const maxBackoffMs = 5_000;

/** One member of a gang: a loop of read, `decide`, act. docs/gang.md draws the states. */
class RendezvousGang implements Gang {
  readonly memberId: string;
  private readonly limits: GangLimits;
  private readonly timing: GangTiming;
  private readonly membership: Membership;
  private readonly environment: GangEnvironment;
  private readonly heartbeat: ReturnType<GangEnvironment["createHeartbeat"]>;
  private readonly alarm: Alarm;
  private readonly watch: Watch;
  private listener: Listener | undefined;
  private current: { readonly generation: MeshGeneration; readonly head: GangHead } | undefined;
  /** Generations up to this number are over for this member. */
  private past = 0;
  private failedConnects = 0;
  private readonly storeCall = new Slowest();
  /** Measured in the previous generation. */
  private microBatchMs = 0;
  private leaving: Promise<void> | undefined;
  /** Aborted by `leave`: it ends a connection in progress. */
  private readonly departure = new AbortController();

  constructor(private readonly options: GangOptions) {
    this.memberId = options.memberId;
    this.limits = limitsOf(options);
    const { expectedWorkers, workerIndex } = options;
    this.timing = timingOf({ ...defaultGangTiming, ...options.timing }, expectedWorkers);
    this.environment = options.environment ?? processEnvironment;
    const { timers } = this.environment;
    this.heartbeat = this.environment.createHeartbeat();
    this.alarm = new Alarm(timers);
    this.watch = new Watch(expectedWorkers, workerIndex, this.timing, timers);
    this.membership = new Membership(options, this.timing, timers, () => this.listener?.port ?? 0);
  }

  async enter(finishedSteps: number): Promise<Generation> {
    this.requireStaying();
    await this.listen();
    await this.leaveGeneration();
    await this.register(finishedSteps);
    this.watch.restart();
    for (;;) {
      this.requireStaying();
      const { records, decision } = await this.look();
      const generation = await this.act(decision, records, finishedSteps);
      if (generation) return generation;
      if (decision.kind === "wait") await this.alarm.sleep(this.watch.pauseMs());
      else this.watch.restart();
    }
  }

  leave(reason: "completed" | "interrupted" | "failed"): Promise<void> {
    this.leaving ??= this.depart(reason);
    return this.leaving;
  }

  private async look(): Promise<{ readonly records: GangRecords; readonly decision: Decision }> {
    const { store, gangId, clock, workerIndex } = this.options;
    const { whole } = this.watch;
    const records = await this.retry(() => (whole ? store.read(gangId) : store.readHead(gangId, this.memberId)));
    if (whole) this.watch.looked(records, workerIndex);
    const self = { ...this.membership.key, past: this.past };
    const pace = { storeMs: this.storeCall.value, microBatchMs: this.microBatchMs };
    const decision = whole
      ? decide(records, self, this.limits, withSurvivorCall(this.timing, pace), clock.now())
      : decideFromHead(records, self, this.timing, clock.now());
    return { records, decision };
  }

  private async act(decision: Decision, records: GangRecords, finishedSteps: number): Promise<Generation | undefined> {
    switch (decision.kind) {
      case "completed":
        this.membership.release();
        throw new GangCompletedError(this.options.gangId);
      case "superseded":
        this.membership.release();
        throw new GangMemberReplacedError(this.memberId);
      case "register":
        // The current list was sealed with a registration that is no longer valid.
        this.past = Math.max(this.past, records.head?.number ?? 0);
        await this.register(finishedSteps);
        return undefined;
      case "seal": {
        const { number, members } = decision;
        const sealedAt = this.options.clock.now();
        const head = { number, members, token: randomBytes(16).toString("hex"), completed: false, sealedAt };
        const sealed = await this.retry(() => this.options.store.seal(this.options.gangId, head));
        if (sealed) this.options.logger?.info("sealed", { generation: number, worldSize: members.length });
        return undefined;
      }
      case "enter":
        return this.connect(decision.head, decision.rank, finishedSteps);
      case "wait":
        return undefined;
    }
  }

  private async connect(head: GangHead, rank: number, finishedSteps: number): Promise<Generation | undefined> {
    this.past = head.number;
    await this.retry(() => this.membership.train(head.number, head.members[rank]!.registration));
    try {
      const mesh = await this.environment.openMesh({
        gangId: this.options.gangId,
        generation: head.number,
        token: head.token,
        rank,
        microBatches: this.options.microBatches,
        members: head.members,
        listener: this.listener!,
        heartbeat: this.heartbeat,
        timing: this.timing,
        now: this.environment.timers.now,
        signal: this.departure.signal,
      });
      if (this.leaving) mesh.close();
      this.requireStaying();
      this.failedConnects = 0;
      this.membership.reach.reached(head.members.map(({ memberId }) => memberId));
      return this.begin(head, mesh);
    } catch (error) {
      if (!(error instanceof GenerationLostError)) throw error;
      this.options.logger?.warn("could not connect", { generation: head.number, error: error.message });
      this.requireStaying();
      if (error.rank !== undefined && error.cause instanceof RankUnreachableError) {
        this.membership.reach.failed(head.members[error.rank]!.memberId, this.options.clock.now());
      }
      await this.blame(head, error);
      await this.backOff();
      await this.register(finishedSteps);
      return undefined;
    }
  }

  private begin(head: GangHead, mesh: Mesh): Generation {
    let stopMonitor = () => {};
    const generation = new MeshGeneration(head, mesh, this.options.chunkElements, () => stopMonitor());
    const monitor = startMonitor(generation, this.options, this.limits, this.timing, this.environment.timers);
    stopMonitor = monitor.stop;
    if (generation.rank === 0) generation.checkFreeze = monitor.checkFreeze;
    this.current = { generation, head };
    const { number, rank, worldSize } = generation;
    this.watch.restart(rank);
    this.options.logger?.info("entered", { generation: number, rank, worldSize });
    return generation;
  }

  private async leaveGeneration(): Promise<void> {
    const { current } = this;
    if (!current) return;
    this.current = undefined;
    const { lost, microBatchMs } = current.generation;
    this.microBatchMs = microBatchMs;
    current.generation.close();
    if (lost) await this.blame(current.head, lost);
  }

  /** Reports the lost member, so that the others do not wait for it. If it is still alive, it registers again. */
  private async blame(head: GangHead, lost: GenerationLostError): Promise<void> {
    const culprit = lost.rank === undefined ? undefined : head.members[lost.rank];
    if (!culprit || culprit.memberId === this.memberId) return;
    const rank = head.members.findIndex(({ memberId }) => memberId === this.memberId);
    if (!reportsLoss(rank, lost.rank!, head.members.length, this.timing)) return;
    this.options.logger?.warn("lost a member", { memberId: culprit.memberId, error: lost.message });
    await this.retry(() => this.options.store.reportLost(this.options.gangId, culprit));
  }

  private requireStaying(): void {
    if (this.leaving) throw new GangLeftError(this.memberId);
  }

  private async register(finishedSteps: number): Promise<void> {
    this.requireStaying();
    const stored = await this.retry(() => this.membership.wait(finishedSteps));
    if (stored) return;
    this.membership.release();
    throw new GangMemberReplacedError(this.memberId);
  }

  private async listen(): Promise<void> {
    if (this.listener) return;
    const { host, logger } = this.options;
    if (this.limits.maxWorkers > 1) this.heartbeat.start();
    this.listener = await this.environment.listen({
      host: host === "127.0.0.1" ? host : "0.0.0.0",
      patienceMs: this.timing.connectMs,
      incarnation: this.membership.key.incarnation,
      onRefused: (reason) => logger?.info("refused a connection", { reason }),
    });
    this.listener.onAhead = () => this.alarm.ring();
  }

  private async depart(reason: "completed" | "interrupted" | "failed"): Promise<void> {
    const { gangId, store, logger } = this.options;
    this.departure.abort();
    this.alarm.ring();
    await this.leaveGeneration();
    if (reason === "completed") await this.retry(() => store.complete(gangId));
    await this.retry(() => this.membership.leave());
    this.heartbeat.stop();
    this.listener?.close();
    logger?.info("left", { reason });
  }

  /** Waits at random. Two members that cannot reach each other would otherwise seal and fail in turns. */
  private async backOff(): Promise<void> {
    const failures = this.failedConnects++;
    if (failures === 0) return;
    const timing = { firstMs: this.timing.pollMs, maxMs: maxBackoffMs };
    await this.alarm.sleep(backoffMs(failures, timing, this.environment.timers.random));
  }

  private async hasRunEnded(): Promise<boolean> {
    const ended = this.options.hasEnded?.() ?? Promise.resolve(false);
    return withDeadline(ended, this.timing.storeCallMs, "the test of the run's end", this.environment.timers).catch(
      () => false,
    );
  }

  /** Retries while the store is unavailable. After 1, 2, 4, … failures it checks whether the run has ended. */
  private async retry<T>(operation: () => Promise<T>): Promise<T> {
    const { timers } = this.environment;
    const startedAt = timers.now();
    for (let failures = 1; ; failures += 1) {
      const calledAt = timers.now();
      try {
        const answer = await withDeadline(operation(), this.timing.storeCallMs, "the gang's store", timers);
        this.storeCall.add(timers.now() - calledAt);
        return answer;
      } catch (error) {
        if (timers.now() - startedAt > this.timing.storePatienceMs) throw error;
        this.options.logger?.warn("the gang's store failed", { error: String(error) });
        if (Number.isInteger(Math.log2(failures)) && (await this.hasRunEnded()))
          throw new GangRunEndedError(this.options.gangId, error);
        await this.alarm.sleep(this.timing.idlePollMs);
      }
    }
  }
}

export type { GangLogger, GangOptions, GangTiming } from "./options";
export { defaultGangTiming } from "./options";

/** @throws RangeError if the numbers of workers and micro-batches contradict each other */
export function createGang(options: GangOptions): Gang {
  const { store, clock, timing, expectedWorkers } = options;
  const { leaseMs } = timingOf({ ...defaultGangTiming, ...timing }, expectedWorkers);
  return new RendezvousGang({ ...options, store: byOwnClock(store, clock, leaseMs) });
}
