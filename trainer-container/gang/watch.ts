import type { GangTimers } from "./environment";
import type { GangTiming } from "./options";
import type { GangRecords } from "./store";
import { isLargeGang, readHeadMs, wholeLookMs } from "./timing";

/** Number of frequent reads after a registration or a change. */
const eagerLooks = 40;

/** Decides when a waiting member reads the store next, and whether it reads the whole gang (see `timing.ts`). */
export class Watch {
  readonly isLarge: boolean;
  private looks = 0;
  private position: number;
  private wholeAt = 0;

  constructor(
    private readonly workers: number,
    workerIndex: number,
    private readonly timing: GangTiming,
    private readonly timers: GangTimers,
  ) {
    this.isLarge = isLargeGang(workers, timing);
    this.position = workerIndex;
  }

  /** Restarts frequent reads after a change. @param position position in line to seal, if known */
  restart(position = this.position): void {
    this.looks = 0;
    this.position = position;
    const interval = wholeLookMs(position, this.workers);
    this.wholeAt = this.timers.now() + this.timers.random() * interval;
  }

  get whole(): boolean {
    return !this.isLarge || this.timers.now() >= this.wholeAt;
  }

  /** Updates the position in line after a read of the whole gang. */
  looked(records: GangRecords, workerIndex: number): void {
    if (!this.isLarge) return;
    const now = this.timers.now();
    const ahead = records.members.filter((member) => member.workerIndex < workerIndex && member.state === "waiting");
    this.position = ahead.filter(({ accused }) => !accused).length;
    this.wholeAt = now + wholeLookMs(this.position, this.workers);
  }

  pauseMs(): number {
    const look = this.looks++;
    if (!this.isLarge) return look < eagerLooks ? this.timing.pollMs : this.timing.idlePollMs;
    const untilWhole = Math.max(this.timing.pollMs, this.wholeAt - this.timers.now());
    return Math.min(untilWhole, readHeadMs(this.workers) * (0.5 + this.timers.random()));
  }
}
