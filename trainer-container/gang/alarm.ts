/** A sleep that can be cut short, also by a ring before it began. */
export class Alarm {
  private wake: (() => void) | undefined;
  private rung = false;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  async sleep(ms: number): Promise<void> {
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wake = undefined;
    this.rung = false;
  }
}
