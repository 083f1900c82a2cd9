import type { LineProcess } from "../support/line-process";

/** Client processes, and some that are started already to take the place of those that are killed: a round does not wait for them to load. */
export class Clients {
  private readonly working: LineProcess[];
  private readonly spare: LineProcess[];

  constructor(
    private readonly start: () => LineProcess,
    readonly count: number,
    spares: number,
  ) {
    this.working = Array.from({ length: count }, start);
    this.spare = Array.from({ length: spares }, start);
  }

  at(index: number): LineProcess {
    return this.working[index]!;
  }

  /** Puts another in the place of one that has ended. */
  replace(index: number): LineProcess {
    this.spare.push(this.start());
    const next = this.spare.shift()!;
    this.working[index] = next;
    return next;
  }

  close(): void {
    for (const each of [...this.working, ...this.spare]) each.kill();
  }
}
