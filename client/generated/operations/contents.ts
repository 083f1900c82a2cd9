// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { OperationCall } from "../../operation";
import type { ContentUrl, LineageAnswer, Sha256, UploadRequest, UploadTargets } from "../schemas";

/** What each operation takes and answers. */
export interface ContentsOperations {
  /** Show which datasets, runs and models saw a raw file or a shard. */
  readonly getContentLineage: {
    readonly request: {
      readonly params: {
        readonly sha256: Sha256;
      };
    };
    readonly answer: LineageAnswer;
    readonly pages: never;
  };
  /** Get URLs to upload the contents that the store lacks. */
  readonly createUploads: {
    readonly request: {
      readonly body: UploadRequest;
    };
    readonly answer: UploadTargets;
    readonly pages: never;
  };
  /** Get a URL to download a content. */
  readonly getContentUrl: {
    readonly request: {
      readonly params: {
        readonly sha256: Sha256;
      };
    };
    readonly answer: ContentUrl;
    readonly pages: never;
  };
}

export const contentsOperations: Readonly<Record<keyof ContentsOperations, OperationCall>> = {
  getContentLineage: { method: "GET", path: "/contents/{sha256}/lineage", repeatable: "always" },
  createUploads: { method: "POST", path: "/uploads", repeatable: "always" },
  getContentUrl: { method: "GET", path: "/contents/{sha256}", repeatable: "always" },
};
