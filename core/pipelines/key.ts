import { digestOf } from "../digest";
import { mapLimited } from "../each-limited";
import type { ObjectStore } from "../ports";
import { readOutput } from "./context";
import type { StepDefinition, StepKind } from "./definition";
import type { CacheEntry } from "./ports";
import type { KeyParts } from "./records";

/** Increases whenever a change of a kind's code changes its outputs. */
const kindVersions: Readonly<Record<StepKind, number>> = { function: 1, train: 1, api: 1, pipeline: 1, fail: 1 };

const maxShown = 80;

/** Small values are shown as they are, so that a reason can name them. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length <= maxShown ? text : `sha256:${digestOf(value)}`;
}

/** Returns the parts of a step's key. `resolved` has the values of its expressions, so a key depends on content alone. */
export function keyPartsOf(
  kind: StepKind,
  step: StepDefinition,
  resolved: Readonly<Record<string, unknown>>,
): KeyParts {
  const parts: Record<string, string> = { kind: `${kind} ${kindVersions[kind]}` };
  for (const [field, value] of Object.entries(resolved)) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) parts[field] = shown(value);
    else for (const [name, inner] of Object.entries(value)) parts[`${field}.${name}`] = shown(inner);
  }
  if (typeof step.function === "object") {
    parts["code"] = step.function.sha256 ?? "";
    // Digests of files only explain a change of the bundle: the bundle's own digest is what counts.
    for (const [file, digest] of Object.entries(step.function.files ?? {})) parts[`file ${file}`] = digest;
  }
  return parts;
}

export const keyOf = (parts: KeyParts): string =>
  digestOf(Object.fromEntries(Object.entries(parts).filter(([name]) => !name.startsWith("file "))));

const maxReasons = 8;

/** Describes why a key differs from an earlier one: `lr 0.1 → 0.01; src/clean.ts changed`. */
export function changesOf(before: KeyParts, after: KeyParts): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  );
  const files = names.filter((name) => name.startsWith("file "));
  const changes = names
    .filter((name) => name !== "code" || files.length === 0)
    .map((name) => {
      const [old, now] = [before[name], after[name]];
      if (name.startsWith("file "))
        return `${name.slice(5)} ${old === undefined ? "was added" : now === undefined ? "was removed" : "changed"}`;
      const isDigest = [old, now].some((each) => each?.startsWith("sha256:")) || name === "code";
      return isDigest ? `${name} changed` : `${name} ${old ?? "(absent)"} → ${now ?? "(absent)"}`;
    });
  const more = changes.length - maxReasons;
  return changes.slice(0, maxReasons).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

const maxChecked = 1_000;

/** Finds the references to content in an output: objects with `sha256` and `bytes`. */
function contentsIn(value: unknown): { readonly sha256: string; readonly bytes: number }[] {
  if (typeof value !== "object" || value === null) return [];
  const { sha256, bytes } = value as { readonly sha256?: unknown; readonly bytes?: unknown };
  if (typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256) && typeof bytes === "number")
    return [{ sha256, bytes }];
  return Object.values(value).flatMap(contentsIn);
}

/**
 * Reads a cached output and checks that everything to which it refers is in the store, undamaged.
 * @returns the reason why it cannot be used, or its value
 */
export async function checkedOutput(
  objects: Pick<ObjectStore, "getContent" | "hasContent">,
  entry: Pick<CacheEntry, "output" | "outputSha256">,
): Promise<{ readonly value: unknown } | { readonly damaged: string }> {
  let value: unknown;
  try {
    value = await readOutput(objects, entry);
  } catch (error) {
    return {
      damaged: `its output ${entry.outputSha256?.slice(0, 12)} is missing or damaged (${(error as Error).name})`,
    };
  }
  const contents = contentsIn(value).slice(0, maxChecked);
  const present = await mapLimited(contents, 16, (content) => objects.hasContent(content));
  const missing = contents.find((_, i) => !present[i]);
  return missing
    ? { damaged: `content ${missing.sha256.slice(0, 12)} of its output is missing or damaged` }
    : { value };
}
