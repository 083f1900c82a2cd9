import { teamsPrefix } from "../object-keys";

type ObjectKind =
  /** Content and tensors, named by their digest. Nothing but a reference to the digest keeps them. */
  | { readonly kind: "content"; readonly digest: string }
  | { readonly kind: "tensors"; readonly digest: string }
  /** A file of the result of a training or of an evaluation by a job. It is no longer needed once its content is in the content store. */
  | { readonly kind: "result-file"; readonly contentKey: string }
  /** Raw files, uploads and the state of reclamation, which refer to nothing. */
  | { readonly kind: "opaque" }
  /** Everything else. It stays, and may refer to content. */
  | { readonly kind: "document" };

const digest = "([0-9a-f]{64})";
const content = new RegExp(`^[^/]+/cas/sha256/${digest}$`);
const tensors = new RegExp(`^[^/]+/runs/[^/]+/tensors/[^/]+/${digest}$`);
const resultFile = new RegExp(`^([^/]+)/(?:runs/[^/]+/training|evaluations/[^/]+)/files/${digest}$`);
const opaque = /^(?:\.|[^/]+\/inbox\/)/;

/** @param key with the team's prefix */
export function kindOf(key: string): ObjectKind {
  if (!key.startsWith(teamsPrefix)) return { kind: "opaque" };
  const name = key.slice(teamsPrefix.length);
  const ofContent = content.exec(name)?.[1];
  if (ofContent !== undefined) return { kind: "content", digest: ofContent };
  const ofTensors = tensors.exec(name)?.[1];
  if (ofTensors !== undefined) return { kind: "tensors", digest: ofTensors };
  const [, team, ofFile] = resultFile.exec(name) ?? [];
  if (ofFile !== undefined) return { kind: "result-file", contentKey: `${teamsPrefix}${team}/cas/sha256/${ofFile}` };
  return { kind: opaque.test(name) ? "opaque" : "document" };
}

/** Returns the team of a key; `undefined` for keys of no team. */
export function teamOf(key: string): string | undefined {
  const name = key.startsWith(teamsPrefix) ? key.slice(teamsPrefix.length) : ".";
  return name.startsWith(".") ? undefined : name.slice(0, name.indexOf("/"));
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * For this long after a writer has stored or found content, reclamation leaves it alone. A writer must store its
 * reference within this time; the slowest ones are functions, which run for 15 minutes at most.
 */
export const claimedMs = dayMs;

/**
 * The age below which reclamation deletes no object. A writer that finds content older than `claimedMs` writes it again.
 * So an object of this age was found by no writer in the last day. The other half is for a writer that has found
 * content just before it became that old.
 */
export const graceMs = 2 * dayMs;
