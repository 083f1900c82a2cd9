import { BoundedMap } from "../../bounded-map";

/**
 * The names of a run's params or metrics. Most runs of an experiment have the same names and share one object, so that
 * a short name is resolved once for each set of names.
 */
export class NameSet {
  private readonly positions: ReadonlyMap<string, number>;
  private readonly resolved = new BoundedMap<string, Resolution>(1_000);
  constructor(
    readonly names: readonly string[],
    private readonly normalise: (name: string) => string,
    private readonly matches: (normalName: string, normalShort: string) => boolean,
  ) {
    this.positions = new Map(names.map((name, position) => [name, position]));
  }

  /** Resolves a name to itself or, unless it must be exact, to the only name that it abbreviates. */
  resolve(name: string, exact: boolean): Resolution {
    const position = this.positions.get(name);
    if (position !== undefined) return { name, position };
    if (exact) return none;
    let known = this.resolved.get(name);
    if (known === undefined) {
      const short = this.normalise(name);
      const candidates = this.names.filter((one) => this.matches(this.normalise(one), short));
      const only = candidates.length === 1 ? candidates[0]! : undefined;
      known =
        only === undefined
          ? { position: -1, ...(candidates.length > 1 ? { ambiguous: candidates } : {}) }
          : { name: only, position: this.positions.get(only)! };
      // Bounded, because the names come from requests.
      this.resolved.set(name, known);
    }
    return known;
  }
}

export interface Resolution {
  readonly name?: string;
  /** Index of the name; −1 if there is none. */
  readonly position: number;
  /** The names that it may abbreviate, if there are several. */
  readonly ambiguous?: readonly string[];
}

const none: Resolution = { position: -1 };

/** Keeps one `NameSet` per list of names. */
export class NameSets {
  private readonly byNames: BoundedMap<string, NameSet>;
  constructor(
    private readonly normalise: (name: string) => string,
    private readonly matches: (normalName: string, normalShort: string) => boolean,
    most = 10_000,
  ) {
    this.byNames = new BoundedMap(most);
  }

  of(names: readonly string[]): NameSet {
    const sorted = [...names].sort();
    const key = JSON.stringify(sorted);
    let set = this.byNames.get(key);
    if (set === undefined) {
      set = new NameSet(sorted, this.normalise, this.matches);
      this.byNames.set(key, set);
    }
    return set;
  }
}

/**
 * Name sets of params: `learning_rate` and `learningRate` are the same name, and both abbreviate
 * `hyperparameters.learningRate`.
 */
export function paramNameSets(): NameSets {
  return new NameSets(
    (name) => name.toLowerCase().replaceAll(/[_-]/g, ""),
    (name, short) => name === short || name.endsWith(`.${short}`),
  );
}

/** Name sets of metrics: `val_loss`, `val/loss` and `validation/loss` are the same name. */
export function metricNameSets(): NameSets {
  return new NameSets(
    (name) =>
      name
        .toLowerCase()
        .split(/[/._\s-]+/)
        .map((part) => (part === "validation" ? "val" : part))
        .join(""),
    (name, short) => name === short,
  );
}
