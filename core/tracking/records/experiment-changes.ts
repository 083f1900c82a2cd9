import type { Experiment } from "../shapes";
import { withTags } from "./transitions";

/** A client's change of an experiment. */
export interface ExperimentEdit {
  readonly name?: string;
  /** `null` removes a tag. */
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly lifecycle?: Experiment["lifecycle"];
}

/** Applies an edit; returns `undefined` if nothing changes. */
export function withExperimentEdit(before: Experiment, edit: ExperimentEdit, at: string): Experiment | undefined {
  const { name = before.name, lifecycle = before.lifecycle } = edit;
  const tags = edit.tags === undefined ? before.tags : withTags(before.tags, edit.tags);
  const after = { ...before, name, lifecycle, tags };
  return JSON.stringify(after) === JSON.stringify(before) ? undefined : { ...after, updatedAt: at };
}
