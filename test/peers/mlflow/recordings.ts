import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CaseGroup } from "./case";
import { stepsDigest } from "./check";
import type { Answer } from "./converse";

/** Responses of MLflow's server to a group's cases, one on each line. */
export interface Recording {
  /** The server's version. */
  readonly mlflow: string;
  readonly cases: Readonly<Record<string, { readonly steps: string; readonly answers: readonly Answer[] }>>;
}

const fileOf = (group: string): string => join(__dirname, "recorded", `${group}.json`);

/** Empty where there is none. */
export function readRecording(group: string): Recording {
  try {
    return JSON.parse(readFileSync(fileOf(group), "utf8")) as Recording;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { mlflow: "", cases: {} };
    throw error;
  }
}

export function writeRecording(
  { group, cases }: CaseGroup,
  mlflow: string,
  answers: ReadonlyMap<string, readonly Answer[]>,
): void {
  const recorded = cases.map((each) => {
    // Values that are not compared are not stored.
    const kept = answers.get(each.name)?.map((answer, index) => (each.steps[index]?.ours ? null : answer)) ?? [];
    const lines = kept.map((answer) => JSON.stringify(answer)).join(",\n");
    return `${JSON.stringify(each.name)}:{"steps":"${stepsDigest(each)}","answers":[\n${lines}]}`;
  });
  writeFileSync(fileOf(group), `{"mlflow":"${mlflow}","cases":{\n${recorded.join(",\n")}}}\n`);
}
