import path from "node:path";

/** A reader's view of a directory: the content of each item, or the error for it. */
export class Observation {
  readonly values = new Map<string, string>();
  readonly errors: string[] = [];

  /** Reads one item. An error is also an answer. */
  async read(item: string, value: () => Promise<string | undefined> | string | undefined): Promise<void> {
    try {
      const found = await value();
      if (found !== undefined) this.values.set(item, found);
    } catch (error) {
      this.fail(error, item);
    }
  }

  fail(error: unknown, item = ""): void {
    this.errors.push(error instanceof Error ? error.message : String(error));
    if (item !== "") this.values.set(item, failed);
  }
}

const failed = "\u0000failed";

/** A class of files of a data directory, and the code that reads it. */
export interface Subject {
  readonly name: string;
  /** Writes data. The second call changes some of it, so that earlier states exist. */
  build(directory: string, round: 1 | 2): Promise<void>;
  /** Whether a file belongs to this class. */
  owns(file: string): boolean;
  /** Returns the class of a file if a subject has several: a case draws a class first. */
  classOf?(file: string): string | undefined;
  /** Returns the names by which an error may report a file. Default: its own path and name. */
  namesOf?(file: string): readonly string[];
  /** Reads everything, as the stack does after a start. */
  observe(directory: string): Promise<Observation>;
}

export const outcomes = ["detected", "healed", "harmless", "unnamed", "silent"] as const;
/** `unnamed`: an error that does not name the damage. `silent`: a wrong answer, or lost data, without an error. */
export type Outcome = (typeof outcomes)[number];

/** Returns the names by which an error may report damaged files: those of the files, and of their items. */
export function namesOf(subject: Subject, expected: Observation, damaged: readonly string[]): readonly string[] {
  const items = [...expected.values.keys()];
  return [...items, ...damaged.flatMap((file) => [file, path.basename(file), ...(subject.namesOf?.(file) ?? [])])];
}

/** @param isRepaired whether the damaged files have their content again */
export function judge(
  expected: Observation,
  observed: Observation,
  names: readonly string[],
  isRepaired: () => boolean,
): Outcome {
  const { values, errors } = observed;
  const wrong = [...expected.values].some(([item, value]) => {
    const got = values.get(item);
    return got === undefined ? errors.length === 0 : got !== value && got !== failed;
  });
  const invented = [...values.keys()].some((item) => !expected.values.has(item));
  if (wrong || invented) return "silent";
  if (errors.length === 0) return isRepaired() ? "healed" : "harmless";
  const isNamed = errors.every((message) => names.some((name) => message.includes(name)));
  return isNamed ? "detected" : "unnamed";
}
