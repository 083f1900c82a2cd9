import type { Clock } from "../clock";
import type { Job } from "./types";

const purposes = ["timeout", "spot"] as const;

export class JobTimers {
  private readonly timers = new Map<string, () => void>();

  constructor(private readonly clock: Clock) {}

  set(job: Job, purpose: (typeof purposes)[number], ms: number, action: () => void): void {
    const key = `${job.jobId} ${purpose}`;
    this.timers.get(key)?.();
    this.timers.set(key, this.clock.schedule(ms, action));
  }

  clear(job: Job): void {
    for (const purpose of purposes) {
      this.timers.get(`${job.jobId} ${purpose}`)?.();
      this.timers.delete(`${job.jobId} ${purpose}`);
    }
  }

  cancelAll(): void {
    for (const cancel of this.timers.values()) cancel();
  }
}
