// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { Instant, RunRecord } from "./shared";

/** A team's name for runs that belong together. */
export interface Experiment {
  readonly experimentId: string;
  readonly name: string;
  readonly team: string;
  /** Deleting is a mark that can be taken off again. */
  readonly lifecycle: "active" | "deleted";
  readonly tags: Readonly<Record<string, string>>;
  /** Where clients are told to put artifacts. */
  readonly artifactLocation: string;
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly revision: number;
}

export interface ExperimentAnswer {
  readonly experiment: Experiment;
}

export interface ExperimentChange {
  readonly name?: string;
  /** Tags to set; null takes one off. Others stay. */
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly lifecycle?: "active" | "deleted";
}

export interface ExperimentPage {
  readonly experiments: readonly Experiment[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface ExperimentRequest {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Where clients are told to put artifacts; the platform's own store where it is left out. */
  readonly artifactLocation?: string;
}

export interface RunRecordPage {
  readonly runs: readonly RunRecord[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}
