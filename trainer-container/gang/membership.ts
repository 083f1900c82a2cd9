import { randomUUID } from "node:crypto";
import { type GangTimers, withDeadline } from "./environment";
import { ReachMemory } from "./members";
import type { GangOptions, GangTiming } from "./options";
import type { MemberRecord, MemberState, RegistrationKey } from "./store";

export class Membership {
  private readonly incarnation = randomUUID();
  private registration = 0;
  /** Highest registration so far. Each is used once. */
  private issued = 0;
  private registeredAt = 0;
  private finishedSteps = 0;
  /** Members that this one cannot connect to. Each registration publishes them. */
  readonly reach = new ReachMemory();
  private stopRenewing: (() => void) | undefined;
  private released = false;

  constructor(
    private readonly options: GangOptions,
    private readonly timing: GangTiming,
    private readonly timers: GangTimers,
    private readonly port: () => number,
  ) {}

  get key(): RegistrationKey {
    const { memberId } = this.options;
    return { memberId, incarnation: this.incarnation, registration: this.registration };
  }

  /** Registers again as ready to be sealed. False if another process has taken this id. */
  async wait(finishedSteps: number): Promise<boolean> {
    this.registration = ++this.issued;
    this.registeredAt = this.options.clock.now();
    this.finishedSteps = finishedSteps;
    const stored = await this.write("waiting", 0);
    if (stored) this.keepLease();
    return stored;
  }

  /** @param registration the sealed one */
  async train(generation: number, registration: number): Promise<void> {
    this.registration = registration;
    await this.write("training", generation);
  }

  async leave(): Promise<void> {
    this.release();
    if (this.registration > 0) await this.write("left", 0);
  }

  /** Stops renewing permanently. The lease then expires. */
  release(): void {
    this.released = true;
    this.stopRenewing?.();
    this.stopRenewing = undefined;
  }

  private write(state: MemberState, generation: number): Promise<boolean> {
    const { gangId, memberId, workerIndex, host, clock, store } = this.options;
    const unreachable = this.reach.list(clock.now());
    const record: MemberRecord = {
      memberId,
      incarnation: this.incarnation,
      registration: this.registration,
      state,
      generation,
      workerIndex,
      host,
      port: this.port(),
      pid: process.pid,
      finishedSteps: this.finishedSteps,
      registeredAt: this.registeredAt,
      leaseExpiresAt: clock.now() + this.timing.leaseMs,
      accused: false,
      ...(unreachable.length > 0 && { unreachable }),
    };
    return store.register(gangId, record);
  }

  private keepLease(): void {
    if (this.stopRenewing || this.released) return;
    let renewing = false;
    this.stopRenewing = this.timers.every(this.timing.renewMs, () => {
      // A store that is slower than the interval must not accumulate writes.
      if (renewing) return;
      renewing = true;
      const { gangId, store, clock, logger } = this.options;
      const renewed = store.renew(gangId, this.key, clock.now() + this.timing.leaseMs);
      withDeadline(renewed, this.timing.storeCallMs, "the gang's store", this.timers)
        .catch((error: unknown) => logger?.warn("lease not renewed", { error: String(error) }))
        .finally(() => {
          renewing = false;
        });
    });
  }
}
