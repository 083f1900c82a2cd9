// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { Sha256 } from "./shared";

export interface ContentUrl {
  readonly url: string;
}

export interface UploadRequest {
  readonly contents: readonly {
    readonly sha256: Sha256;
    readonly bytes: number;
  }[];
}

/** PUT the content to `url` with exactly these headers. */
export interface UploadTarget {
  readonly sha256: Sha256;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface UploadTargets {
  readonly missing: readonly UploadTarget[];
}
