export class Tally {
  private readonly statuses = new Map<string, Map<number, number>>();
  private answers = 0;

  constructor(operations: Iterable<string>) {
    for (const operation of operations) this.statuses.set(operation, new Map());
  }

  get total(): number {
    return this.answers;
  }

  count(operation: string, status: number): void {
    const statuses = this.statuses.get(operation) ?? new Map<number, number>();
    this.statuses.set(operation, statuses.set(status, (statuses.get(status) ?? 0) + 1));
    this.answers += 1;
  }

  /** Operations that never succeeded: a redirect is a success, too. */
  unreached(): readonly string[] {
    return [...this.statuses.keys()].filter((name) => this.ofClass(name, 2) + this.ofClass(name, 3) === 0);
  }

  /** A line an operation, with its answers by status class and the refusals' statuses, and a line of all. */
  table(): string {
    const classes = [2, 3, 4, 5];
    const width = Math.max(...[...this.statuses.keys()].map((name) => name.length));
    const row = (name: string, numbers: readonly (number | string)[], more = ""): string =>
      `${name.padEnd(width)}${numbers.map((number) => String(number).padStart(7)).join("")}  ${more}`.trimEnd();
    const lines = [...this.statuses]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, statuses]) => {
        const refusals = [...statuses].filter(([status]) => status >= 400).sort(([a], [b]) => a - b);
        const shown = refusals.map(([status, count]) => `${status}×${count}`).join(" ");
        return row(
          name,
          classes.map((digit) => this.ofClass(name, digit)),
          shown,
        );
      });
    const sums = classes.map((digit) =>
      [...this.statuses.keys()].reduce((sum, name) => sum + this.ofClass(name, digit), 0),
    );
    return [row("operation", ["2xx", "3xx", "4xx", "5xx"]), ...lines, row(`all ${this.answers}`, sums)].join("\n");
  }

  private ofClass(operation: string, digit: number): number {
    const statuses = this.statuses.get(operation) ?? new Map<number, number>();
    return [...statuses].reduce((sum, [status, count]) => (Math.floor(status / 100) === digit ? sum + count : sum), 0);
  }
}
