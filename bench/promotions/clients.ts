import type { LineProcess } from "../support/line-process";

/** Client processes, and started spares that replace killed ones without a wait for their start. */
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

  /** Replaces one that has ended. */
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
