import { sha256 } from "./digest";

/** Every team's prefix begins with this. */
export const teamsPrefix = "teams/";

/** Where all that a team has lies in the bucket. The object store of a team adds it: no key made below leaves its team. */
export function teamPrefix(team: string): string {
  return `${teamsPrefix}${team}/`;
}

/**
 * Where a team's contents lie until their digest is known. Beside the teams, none of which has a name that begins with a dot: lifecycle rules take a
 * prefix and no pattern, and what is left over here is expired, whosever it is.
 */
export const incomingPrefix = `${teamsPrefix}.incoming/`;
export function teamIncomingPrefix(team: string): string {
  return `${incomingPrefix}${team}/`;
}

/** A model's free name in a key, which takes 1,024 bytes: encoded, or where that is too long its digest, behind a sign that no encoded name has. */
export function modelKeyPart(name: string): string {
  const encoded = encodeURIComponent(name);
  return encoded.length <= 512 ? encoded : `=${sha256(name)}`;
}

/** The SHA-256 that a key of the bucket promises for its content; undefined where it promises none. */
export function contentDigestOf(key: string): string | undefined {
  return /^teams\/[^/]+\/cas\/sha256\/([0-9a-f]{64})$/.exec(key)?.[1];
}

/** Every key of a team's is made here. Names are deterministic; content lives under `cas/`, names point into it. */
export const objectKeys = {
  /** Anything content-addressed: shards, index files, tensors, reports. */
  content: (sha256: string): string => `cas/sha256/${sha256}`,
  /** A raw file that is to become a version; `path` is `<dataset>/<file>`. */
  inbox: (path: string): string => `inbox/${path}`,
  datasetManifest: (name: string, version: number): string => `datasets/${name}/versions/${version}/manifest.json`,
  /** A materialised feature set, by the digest of what it was made from. */
  featureManifest: (inputHash: string): string => `features/${inputHash}/manifest.json`,
  /** What trainers read and write beside checkpoints: see `core/runs/training-task.ts`. */
  trainingTask: (runId: string): string => `runs/${runId}/training/task.json`,
  trainingResult: (runId: string): string => `runs/${runId}/training/result.json`,
  /** Of one Batch job: an earlier attempt's is not the later one's, whenever it is written. */
  trainingFailure: (runId: string, jobId: string): string => `runs/${runId}/training/failures/${jobId}.json`,
  /** Numerics of the run's first worker: the others must compute alike. */
  trainingNumerics: (runId: string): string => `runs/${runId}/training/numerics.json`,
  /** Zero-padded so that lexical order is the order of steps. */
  checkpointManifest: (runId: string, step: number): string =>
    `runs/${runId}/checkpoints/${String(step).padStart(12, "0")}/manifest.json`,
  checkpointPrefix: (runId: string): string => `runs/${runId}/checkpoints/`,
  /** The root of the keys that sign requests to receivers outside: `core/signing-key.ts`. */
  signingRoot: (): string => "keys/check-hooks",
  /** Where earlier releases put artifact manifests. */
  artifactManifest: (runId: string): string => `runs/${runId}/artifacts/manifest.json`,
  /** What serving should load of a model, for when the registry does not answer. */
  productionPointer: (model: string): string => `models/${modelKeyPart(model)}/production.json`,
  /** Who answers whom, for the same case. */
  routingPointer: (model: string): string => `models/${modelKeyPart(model)}/routing.json`,
  /** What shadows of a model said, a parcel a report. */
  shadowParcel: (model: string, version: number, day: string, digest: string): string =>
    `serving/${modelKeyPart(model)}/shadows/${version}/${day}/${digest}.json`,
  shadowPrefix: (model: string, version: number): string => `serving/${modelKeyPart(model)}/shadows/${version}/`,
} as const;
