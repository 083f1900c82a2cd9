/** A process: a function's invocation, or a person's call of the API. */
export interface Actor {
  readonly name: string;
  readonly startedAt: number;
  alive: boolean;
  /** Each call of a service waits here until the schedule lets it through; what is between two of them happens at once. */
  gate(label: string): Promise<void>;
}

interface Pending {
  readonly actor: Actor;
  readonly label: string;
  readonly order: number;
  readonly pass: () => void;
}

/** One of the things that may happen next. Of equal rank the first is the default. */
export interface Option {
  readonly label: string;
  readonly act: () => void;
}

/**
 * Runs processes one call at a time, in the order that a list of numbers says: the n-th number chooses among what can happen at the n-th point. 0,
 * and the end of the list, is the undisturbed course; so a failing list shrinks to the disturbances that matter.
 */
export class Schedule {
  readonly actors = new Set<Actor>();
  readonly log: string[] = [];
  private pending: Pending[] = [];
  private made = 0;
  private at = 0;

  constructor(private readonly choices: readonly number[]) {}

  /** Points at which something other than the undisturbed course could have been chosen. */
  readonly widths: number[] = [];

  start(name: string, now: number, run: (actor: Actor) => Promise<void>): Actor {
    const actor: Actor = {
      name: `${name}#${++this.made}`,
      startedAt: now,
      alive: true,
      gate: (label) =>
        new Promise((pass) => {
          this.pending.push({ actor, label, order: this.pending.length, pass: () => pass() });
        }),
    };
    this.actors.add(actor);
    void run(actor).finally(() => this.actors.delete(actor));
    return actor;
  }

  /** A process dies between two calls: what it waits for never comes. */
  kill(actor: Actor): void {
    actor.alive = false;
    this.actors.delete(actor);
    this.pending = this.pending.filter((one) => one.actor !== actor);
  }

  isAt(actor: Actor, label: string): boolean {
    return this.pending.some((one) => one.actor === actor && one.label === label);
  }

  calls(): readonly Option[] {
    return this.pending.map((one) => ({
      label: `${one.actor.name} ${one.label}`,
      act: () => {
        this.pending = this.pending.filter((other) => other !== one);
        one.pass();
      },
    }));
  }

  async next(options: readonly Option[]): Promise<void> {
    this.widths.push(options.length);
    const option = options[(this.choices[this.at++] ?? 0) % options.length]!;
    this.log.push(option.label);
    option.act();
    // All that follows from it without another call of a service.
    await new Promise((settled) => setImmediate(settled));
  }
}
