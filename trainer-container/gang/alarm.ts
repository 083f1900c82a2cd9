import { type GangTimers, processTimers } from "./environment";

/** A sleep that a ring ends early. A ring before the sleep also counts. */
export class Alarm {
  private wake: (() => void) | undefined;
  private rung = false;

  constructor(private readonly timers: GangTimers = processTimers) {}

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  async sleep(ms: number): Promise<void> {
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        const cancel = this.timers.after(ms, resolve);
        this.wake = () => {
          cancel();
          resolve();
        };
      });
    }
    this.wake = undefined;
    this.rung = false;
  }
}
