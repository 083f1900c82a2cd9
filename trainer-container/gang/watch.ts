import type { GangTimers } from "./environment";
import { glanceMs, isCrowd, wholeLookMs } from "./large-gang";
import type { GangView } from "./model";
import type { GangTiming } from "./options";

/** Looks in quick succession after registering or after a change; then it slows down. */
const eagerLooks = 40;

/** When a waiting member looks at the store next, and at how much of it. `trainer-container/gang/large-gang.ts` has the reasons. */
export class Watch {
  readonly crowd: boolean;
  private looks = 0;
  private position: number;
  private wholeAt = 0;

  constructor(
    private readonly workers: number,
    workerIndex: number,
    private readonly timing: GangTiming,
    private readonly timers: GangTimers,
  ) {
    this.crowd = isCrowd(workers, timing);
    this.position = workerIndex;
  }

  /** Something has changed. @param position place in line to seal, where it is known better than by the worker's index. */
  restart(position = this.position): void {
    this.looks = 0;
    this.position = position;
    const interval = wholeLookMs(position, this.workers);
    this.wholeAt = this.timers.now() + this.timers.random() * interval;
  }

  /** Whether the next look takes in the whole gang. */
  get whole(): boolean {
    return !this.crowd || this.timers.now() >= this.wholeAt;
  }

  /** After a look at the whole gang: who is in line before this member. */
  looked(view: GangView, workerIndex: number): void {
    if (!this.crowd) return;
    const now = this.timers.now();
    const ahead = view.members.filter((member) => member.workerIndex < workerIndex && member.state === "waiting");
    this.position = ahead.filter(({ accused }) => !accused).length;
    this.wholeAt = now + wholeLookMs(this.position, this.workers);
  }

  /** Milliseconds until the next look, after one that told to wait. */
  pauseMs(): number {
    const look = this.looks++;
    if (!this.crowd) return look < eagerLooks ? this.timing.pollMs : this.timing.idlePollMs;
    const untilWhole = Math.max(this.timing.pollMs, this.wholeAt - this.timers.now());
    return Math.min(untilWhole, glanceMs(this.workers) * (0.5 + this.timers.random()));
  }
}
