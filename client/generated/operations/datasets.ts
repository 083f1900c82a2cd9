// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../../operation";
import type {
  DatasetPage,
  DatasetRegistration,
  DatasetRegistrationRequest,
  DatasetVersionAnswer,
  DatasetVersionPage,
  DeprecationRequest,
  InboxPage,
  InboxReportAnswer,
  LineageAnswer,
} from "../schemas";

/** What each operation takes and answers. */
export interface DatasetsOperations {
  /** Show which files made a version, and which runs and models saw it. */
  readonly getDatasetLineage: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: LineageAnswer;
    readonly pages: never;
  };
  /** Keep new runs from using a version. */
  readonly deprecateDatasetVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
      readonly body?: DeprecationRequest;
    };
    readonly answer: DatasetVersionAnswer;
    readonly pages: never;
  };
  /** Get the version that a new run would use. */
  readonly getDataset: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
    };
    readonly answer: DatasetVersionAnswer;
    readonly pages: never;
  };
  /** Get a version, deprecated or not. */
  readonly getDatasetVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
        readonly version: number | string;
      };
    };
    readonly answer: DatasetVersionAnswer;
    readonly pages: never;
  };
  /** List a dataset's versions, newest first. */
  readonly listDatasetVersions: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: DatasetVersionPage;
    readonly pages: "items";
  };
  /** Register an uploaded snapshot as the next version. */
  readonly registerDatasetVersion: {
    readonly request: {
      readonly params: {
        readonly name: string;
      };
      readonly body: DatasetRegistrationRequest;
    };
    readonly answer: DatasetRegistration;
    readonly pages: never;
  };
  /** List datasets by name. */
  readonly listDatasets: {
    readonly request: {
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
      };
    };
    readonly answer: DatasetPage;
    readonly pages: "items";
  };
  /** List what became of files that were put into the inbox. */
  readonly listInboxReports: {
    readonly request: {
      readonly query?: {
        /** How many, at most. */
        readonly limit?: number | string;
        /** Of the page before: go on where it ended. */
        readonly nextToken?: string;
        /** Of this dataset only. */
        readonly dataset?: string;
      };
    };
    readonly answer: InboxPage;
    readonly pages: "items";
  };
  /** Try a refused file again. */
  readonly retryInboxFile: {
    readonly request: {
      readonly params: {
        readonly id: string;
      };
    };
    readonly answer: InboxReportAnswer;
    readonly pages: never;
  };
}

export const datasetsOperations: Readonly<Record<keyof DatasetsOperations, OperationCall>> = {
  getDatasetLineage: { method: "GET", path: "/datasets/{name}/versions/{version}/lineage", repeatable: "always" },
  deprecateDatasetVersion: {
    method: "POST",
    path: "/datasets/{name}/versions/{version}/deprecate",
    repeatable: "always",
  },
  getDataset: { method: "GET", path: "/datasets/{name}", repeatable: "always" },
  getDatasetVersion: { method: "GET", path: "/datasets/{name}/versions/{version}", repeatable: "always" },
  listDatasetVersions: { method: "GET", path: "/datasets/{name}/versions", repeatable: "always", pages: "items" },
  registerDatasetVersion: { method: "POST", path: "/datasets/{name}/versions", repeatable: "always" },
  listDatasets: { method: "GET", path: "/datasets", repeatable: "always", pages: "items" },
  listInboxReports: { method: "GET", path: "/inbox", repeatable: "always", pages: "items" },
  retryInboxFile: { method: "POST", path: "/inbox/{id}/retry", repeatable: "never" },
};
