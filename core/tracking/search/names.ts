import { BoundedMap } from "../../bounded-map";

/**
 * The names of a run's params (or of its metrics). Runs of an experiment mostly have the same, so that one object stands for all of them: what a short
 * name means is found once for each, not once for each run.
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

  /** Of that very name; where there is none and it need not be exact, of the only one that it is short for. */
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
      // Names come from whoever searches: do not grow with them.
      this.resolved.set(name, known);
    }
    return known;
  }
}

export interface Resolution {
  readonly name?: string;
  /** Among the names; −1 where there is none. */
  readonly position: number;
  /** The several that it may mean. */
  readonly ambiguous?: readonly string[];
}

const none: Resolution = { position: -1 };

/** Keeps one `NameSet` for equal lists of names. */
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

/** `learning_rate` and `learningRate` are one name; a short one may be the last parts of a longer: `hyperparameters.learningRate`. */
export function paramNameSets(): NameSets {
  return new NameSets(
    (name) => name.toLowerCase().replaceAll(/[_-]/g, ""),
    (name, short) => name === short || name.endsWith(`.${short}`),
  );
}

/** `val_loss`, `val/loss` and `validation/loss` are one name. */
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
