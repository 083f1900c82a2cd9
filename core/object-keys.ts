import { sha256 } from "./digest";

/** Start of every team's prefix. */
export const teamsPrefix = "teams/";

/**
 * Returns the prefix of a team's objects in the bucket. The team's object store adds it, so that no key below leaves
 * its team.
 */
export function teamPrefix(team: string): string {
  return `${teamsPrefix}${team}/`;
}

/**
 * Prefix of a team's contents until their digest is known. It is outside the teams' prefixes (no team's name starts
 * with a dot), because lifecycle rules accept a prefix and no pattern. What is left here expires, whichever team owns
 * it.
 */
export const incomingPrefix = `${teamsPrefix}.incoming/`;
export function teamIncomingPrefix(team: string): string {
  return `${incomingPrefix}${team}/`;
}

/**
 * Encodes a model's name for a key, which has at most 1,024 bytes. A longer name is replaced by its digest after a
 * character that no encoded name contains.
 */
export function modelKeyPart(name: string): string {
  const encoded = encodeURIComponent(name);
  return encoded.length <= 512 ? encoded : `=${sha256(name)}`;
}

/** Returns the SHA-256 that a key implies for its content; `undefined` if it implies none. */
export function contentDigestOf(key: string): string | undefined {
  return /^teams\/[^/]+\/(?:cas\/sha256|evaluations\/[^/]+\/files|runs\/[^/]+\/(?:tensors\/\d+|training\/files))\/([0-9a-f]{64})$/.exec(
    key,
  )?.[1];
}

/** The keys of checkpoints' tensors. */
export const tensorKey = /^runs\/[^/]+\/tensors\/\d+\/[0-9a-f]{64}$/;

/** Returns the run whose trainers stored the tensors at a key; `undefined` for other keys. */
export function ownerOfTensors(key: string): string | undefined {
  return /^runs\/([^/]+)\/tensors\//.exec(key)?.[1];
}

/**
 * The keys of a team's objects; all are built here. Names are deterministic. Content is under `cas/`, and names refer
 * to it.
 */
export const objectKeys = {
  /** Content-addressed objects: shards, index files, tensors, reports. */
  content: (sha256: string): string => `cas/sha256/${sha256}`,
  /** A raw file that becomes a version; `path` is `<dataset>/<file>`. */
  inbox: (path: string): string => `inbox/${path}`,
  datasetManifest: (name: string, version: number): string => `datasets/${name}/versions/${version}/manifest.json`,
  /** A materialised feature set, by the digest of its inputs. */
  featureManifest: (inputHash: string): string => `features/${inputHash}/manifest.json`,
  /** The result of a part of a step in rounds, by the digest of the round: see `core/runs/rounds.ts`. */
  roundResult: (round: string, part: number): string => `rounds/${round}/${part}.json`,
  /** Objects of trainers other than checkpoints: see `core/runs/training-task.ts`. */
  trainingTask: (runId: string, segment = 0): string =>
    `runs/${runId}/training/${segment === 0 ? "task" : `task-${segment}`}.json`,
  trainingResult: (runId: string): string => `runs/${runId}/training/result.json`,
  /** A file of the result, until it is copied to the content store, where trainers do not write. */
  trainingFile: (runId: string, sha256: string): string => `runs/${runId}/training/files/${sha256}`,
  /** The end of a segment that pauses. */
  trainingPause: (runId: string, segment: number): string => `runs/${runId}/training/pause-${segment}.json`,
  /** The failure of one Batch job. Each attempt has its own, even if it is written late. */
  trainingFailure: (runId: string, jobId: string): string => `runs/${runId}/training/failures/${jobId}.json`,
  /** The manifest of the version whose rows a container reads. */
  trainingDataset: (runId: string): string => `runs/${runId}/training/dataset.json`,
  /** The files of a container's checkpoint folder, by the gang's generation; lexical order is that of generations. */
  folderManifest: (runId: string, generation: number): string =>
    `${objectKeys.folderPrefix(runId)}${String(generation).padStart(9, "0")}.json`,
  folderPrefix: (runId: string): string => `runs/${runId}/training/folder/`,
  /** Numerics of the run's first worker. The other workers must use the same. */
  trainingNumerics: (runId: string): string => `runs/${runId}/training/numerics.json`,
  /** Objects of a run's evaluation by a job, by the hash of its inputs: see `core/evaluation/task.ts`. Trainers do not write here. */
  evaluationTask: (runId: string, inputHash: string): string => `evaluations/${runId}/${inputHash}/task.json`,
  evaluationResult: (runId: string, inputHash: string): string => `evaluations/${runId}/${inputHash}/result.json`,
  evaluationFailure: (runId: string, inputHash: string, jobId: string): string =>
    `evaluations/${runId}/${inputHash}/failures/${jobId}.json`,
  /** A file of the result, until it is copied to the content store. */
  evaluationFile: (runId: string, sha256: string): string => `evaluations/${runId}/files/${sha256}`,
  /** Zero-padded, so that lexical order is the order of steps. */
  checkpointManifest: (runId: string, step: number): string =>
    `runs/${runId}/checkpoints/${String(step).padStart(12, "0")}/manifest.json`,
  checkpointPrefix: (runId: string): string => `runs/${runId}/checkpoints/`,
  /** Tensors of a checkpoint that no earlier checkpoint of the run has stored. Only the run's trainers write them. */
  tensors: (runId: string, step: number, sha256: string): string =>
    `runs/${runId}/tensors/${String(step).padStart(12, "0")}/${sha256}`,
  /** Tensors of a run that another run's checkpoint refers to. Trainers cannot write it, and do not delete these. */
  tensorPin: (runId: string, by: string, step: number): string => `runs/${runId}/pins/${by}/${step}.json`,
  tensorPinPrefix: (runId: string): string => `runs/${runId}/pins/`,
  /** The root of the keys that sign requests to external receivers: `core/signing-key.ts`. */
  signingRoot: (): string => "keys/check-hooks",
  /** Trials of earlier studies and runs from which a study's sampler starts. */
  studyWarmStart: (study: string): string => `studies/${study}/warm-start.json`,
  /** The version that serving loads, for when the registry is unavailable. */
  productionPointer: (model: string): string => `models/${modelKeyPart(model)}/production.json`,
  /** The routing of requests, for when the registry is unavailable. */
  routingPointer: (model: string): string => `models/${modelKeyPart(model)}/routing.json`,
  /** A report of a model's shadow predictions. */
  shadowReport: (model: string, version: number, day: string, digest: string): string =>
    `serving/${modelKeyPart(model)}/shadows/${version}/${day}/${digest}.json`,
  shadowPrefix: (model: string, version: number): string => `serving/${modelKeyPart(model)}/shadows/${version}/`,
} as const;
