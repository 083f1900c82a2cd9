import type { RunRecord } from "./shapes";

/** Tags with which MLflow's clients write what a record has as fields. The field is authoritative. */
interface MemberTag {
  readonly key: string;
  read(record: RunRecord): string | undefined;
  /** `undefined` if the tag is deleted. */
  write(record: RunRecord, value: string | undefined): RunRecord;
  /** Returns whether the field can hold the value. Other values stay tags. */
  readonly holds?: (value: string) => boolean;
  /** Set for fields of a training run that the platform itself determines. */
  readonly ofTraining?: "read-only";
}

const memberTags: readonly MemberTag[] = [
  {
    key: "mlflow.runName",
    read: ({ name }) => name || undefined,
    // A run keeps its name if the tag is deleted.
    write: (record, value) => ({ ...record, name: value || record.name }),
  },
  {
    key: "mlflow.note.content",
    read: ({ notes }) => notes || undefined,
    write: (record, value) => ({ ...record, notes: value ?? "" }),
    holds: (value) => value !== "",
  },
  {
    key: "mlflow.parentRunId",
    read: ({ parentRunId }) => parentRunId,
    write: ({ parentRunId: _, ...record }, value) => (value === undefined ? record : { ...record, parentRunId: value }),
    // A longer text is no run id, and cannot be a key of a table.
    holds: (value) => value !== "" && value.length <= 256,
  },
  codeTag("mlflow.source.name", "entryPoint"),
  codeTag("mlflow.source.git.commit", "commit"),
  codeTag("mlflow.source.git.branch", "branch"),
  codeTag("mlflow.source.git.repoURL", "repository"),
];

const byKey = new Map(memberTags.map((tag) => [tag.key, tag]));

function codeTag(key: string, member: "entryPoint" | "commit" | "branch" | "repository"): MemberTag {
  return {
    key,
    read: ({ code }) => code[member],
    write: (record, value) => {
      const { [member]: _, ...code } = record.code;
      return { ...record, code: value === undefined ? code : { ...code, [member]: value } };
    },
    ofTraining: "read-only",
  };
}

/** Returns all tags of a run as MLflow's clients see them: stored tags and those that stand for fields. */
export function mlflowTags(record: RunRecord): Readonly<Record<string, string>> {
  const tags: Record<string, string> = { ...record.tags };
  for (const key of derivedKeys) {
    const value = derived(record, key);
    if (value !== undefined) tags[key] = value;
  }
  return tags;
}

export function mlflowTag(record: RunRecord, key: string): string | undefined {
  const value = derived(record, key);
  if (value !== undefined) return value;
  return Object.hasOwn(record.tags, key) ? record.tags[key] : undefined;
}

const derivedKeys = [...byKey.keys(), "mlflow.user", "mlflow.source.type", "ringmaster.reusedFrom"];

function derived(record: RunRecord, key: string): string | undefined {
  const member = byKey.get(key);
  if (member) return member.read(record);
  if (record.source !== "training" || Object.hasOwn(record.tags, key)) return undefined;
  if (key === "mlflow.user") return record.createdBy;
  if (key === "ringmaster.reusedFrom") return record.reusedFrom;
  return key === "mlflow.source.type" ? "JOB" : undefined;
}

/** Sets a tag; returns the same record if the tag has that value. */
export function withMlflowTag(record: RunRecord, key: string, value: string): RunRecord {
  const member = memberOf(record, key);
  if (!member) return record.tags[key] === value ? record : { ...record, tags: { ...record.tags, [key]: value } };
  if (mlflowTag(record, key) === value) return record;
  if (member.holds && !member.holds(value)) {
    const without = member.write(record, undefined);
    return { ...without, tags: { ...record.tags, [key]: value } };
  }
  return member.write(withoutOwn(record, key), value);
}

/** Deletes a tag; returns `undefined` if the run does not have it. */
export function withoutMlflowTag(record: RunRecord, key: string): RunRecord | undefined {
  const member = memberOf(record, key);
  const held = member?.read(record) !== undefined;
  if (!held && !Object.hasOwn(record.tags, key)) return undefined;
  const without = withoutOwn(record, key);
  return member ? member.write(without, undefined) : without;
}

function withoutOwn(record: RunRecord, key: string): RunRecord {
  if (!Object.hasOwn(record.tags, key)) return record;
  const { [key]: _, ...tags } = record.tags;
  return { ...record, tags };
}

function memberOf({ source }: RunRecord, key: string): MemberTag | undefined {
  const member = byKey.get(key);
  return member && !(source === "training" && member.ofTraining === "read-only") ? member : undefined;
}

export function parentsIn(tags: readonly { readonly key?: string; readonly value?: string }[]): readonly string[] {
  return tags.flatMap(({ key, value }) => (key === "mlflow.parentRunId" && value ? [value] : []));
}
