import type { DatasetDraft } from "../core/datasets/identity";
import type { ColumnSchema } from "../core/datasets/manifest";
import type { DatasetSummary, DatasetVersion, Page } from "../core/datasets/repository";
import type { HistoryEntry, Model, ModelArtifact, ModelVersion, OutputSchema } from "../core/registry/model";
import type { MetricPoint, MetricSummary } from "../core/tracking/metric-repository";
import { decodeValue, type EncodedValue } from "../core/tracking/metric-values";
import type { CheckpointSummary } from "../core/training/checkpoint/list";
import type { Job } from "../core/training/job";
import type { RestoreOverrides } from "../core/training/restore";
import type { CodeReference, Run, RunDetails } from "../core/training/run";
import type { RunPage } from "../core/training/run-repository";
import type { LogPage } from "../core/training/worker-logs";
import { ApiError, ApiUnreachableError } from "./errors";

export interface ClientOptions {
  /** `http://127.0.0.1:4700`. */
  readonly baseUrl: string;
  /** Who calls, for the records. */
  readonly actor: string;
  /** For which team; absent: the caller's only one. */
  readonly team?: string;
  /** Where the API asks for one. */
  readonly token?: string;
}

export interface UploadTarget {
  readonly sha256: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

type EncodedPoint = Omit<MetricPoint, "value"> & { readonly value: EncodedValue };

/** What serving loads. */
export interface ResolvedModel {
  readonly model: string;
  readonly version: number;
  readonly runId: string;
  readonly artifactUri: string;
  readonly weightsUri: string;
  readonly sha256: string;
  readonly inputSchema: readonly ColumnSchema[];
  readonly outputSchema: OutputSchema;
  readonly metrics: Readonly<Record<string, number>>;
  /** What lies at `artifactUri`. */
  readonly artifact: ModelArtifact;
}

/** The API, typed. Rejects with `ApiError` or `ApiUnreachableError`. */
export function createClient({ baseUrl, actor, team, token }: ClientOptions) {
  const caller = {
    "x-ringmaster-actor": actor,
    ...(team === undefined ? {} : { "x-ringmaster-team": team }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };

  async function call<T>(
    method: string,
    path: string,
    options: {
      readonly body?: unknown;
      readonly query?: Readonly<Record<string, string | number | undefined>>;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<T> {
    const url = new URL(`/api/v1${path}`, baseUrl);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const response = await fetch(url, {
      method,
      headers: { "content-type": "application/json", ...caller, ...options.headers },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
    }).catch((cause: unknown) => {
      throw new ApiUnreachableError(baseUrl, cause);
    });
    const text = await response.text();
    const body = parseBody(text);
    if (response.ok && body !== undefined) return body as T;
    const error = (body as { error?: { code: string; message: string; details?: unknown } } | undefined)?.error ?? {
      code: "BAD_RESPONSE",
      message: `${method} ${url.pathname} answered ${response.status} with something that is not the API's JSON`,
    };
    throw new ApiError(error, response.status, response.headers.get("x-request-id") ?? undefined);
  }

  const segment = encodeURIComponent;
  return {
    submitRun: (
      request: { readonly job: Job; readonly code?: CodeReference; readonly noCache?: boolean },
      idempotencyKey: string,
    ) =>
      call<{ run: Run }>("POST", "/training-runs", {
        body: request,
        headers: { "idempotency-key": idempotencyKey },
      }).then(({ run }) => run),
    run: (runId: string) => call<RunDetails>("GET", `/training-runs/${segment(runId)}`),
    /** `limit` may be text as a person wrote it: the API names what is wrong with it. */
    runs: (query: { readonly limit?: number | string; readonly nextToken?: string } = {}) =>
      call<RunPage>("GET", "/training-runs", { query }),
    cancelRun: (runId: string) =>
      call<{ run: Run }>("POST", `/training-runs/${segment(runId)}/cancel`).then(({ run }) => run),
    checkpoints: (runId: string) =>
      call<{ checkpoints: readonly CheckpointSummary[] }>("GET", `/training-runs/${segment(runId)}/checkpoints`).then(
        ({ checkpoints }) => checkpoints,
      ),
    /** `epoch` may be text as a person wrote it: the API names what is wrong with it. */
    restoreRun: (
      runId: string,
      epoch: number | string,
      request: { readonly overrides?: RestoreOverrides; readonly allowOtherNumerics?: boolean },
      idempotencyKey: string,
    ) =>
      call<{ run: Run }>("POST", `/training-runs/${segment(runId)}/checkpoints/${segment(String(epoch))}/restore`, {
        body: request,
        headers: { "idempotency-key": idempotencyKey },
      }).then(({ run }) => run),
    metrics: (runId: string) =>
      call<{ metrics: readonly MetricSummary[] }>("GET", `/training-runs/${segment(runId)}/metrics`).then(
        ({ metrics }) => metrics,
      ),
    metric: (runId: string, metric: string) =>
      call<{ points: readonly EncodedPoint[] }>("GET", `/training-runs/${segment(runId)}/metrics`, {
        query: { metric },
      }).then(({ points }): readonly MetricPoint[] =>
        points.map((point) => ({ ...point, value: decodeValue(point.value) })),
      ),
    logs: (runId: string, query: { readonly worker?: number; readonly nextToken?: string } = {}) =>
      call<LogPage>("GET", `/training-runs/${segment(runId)}/logs`, { query }),

    datasets: () => call<Page<DatasetSummary>>("GET", "/datasets").then(({ items }) => items),
    datasetVersions: (name: string) =>
      call<Page<DatasetVersion>>("GET", `/datasets/${segment(name)}/versions`).then(({ items }) => items),
    dataset: (name: string, version?: number) =>
      call<{ version: DatasetVersion }>(
        "GET",
        `/datasets/${segment(name)}${version === undefined ? "" : `/versions/${version}`}`,
      ).then((answer) => answer.version),
    registerDataset: (draft: DatasetDraft, allowSchemaChange: boolean) =>
      call<{ created: boolean; version: DatasetVersion }>("POST", `/datasets/${segment(draft.name)}/versions`, {
        body: { draft, allowSchemaChange },
      }),
    deprecateDataset: (name: string, version: number, reason: string) =>
      call<{ version: DatasetVersion }>("POST", `/datasets/${segment(name)}/versions/${version}/deprecate`, {
        body: { reason },
      }).then((answer) => answer.version),
    uploads: (contents: readonly { readonly sha256: string; readonly bytes: number }[]) =>
      call<{ missing: readonly UploadTarget[] }>("POST", "/uploads", { body: { contents } }).then(
        ({ missing }) => missing,
      ),
    contentUrl: (sha256: string) => call<{ url: string }>("GET", `/contents/${segment(sha256)}`).then(({ url }) => url),

    models: () => call<{ models: readonly Model[] }>("GET", "/models").then(({ models }) => models),
    model: (name: string) =>
      call<{ model: Model; versions: readonly ModelVersion[]; history: readonly HistoryEntry[] }>(
        "GET",
        `/models/${segment(name)}`,
      ),
    modelVersion: (name: string, version: number) =>
      call<{ version: ModelVersion }>("GET", `/models/${segment(name)}/versions/${version}`).then(
        (answer) => answer.version,
      ),
    production: (name: string) => call<ResolvedModel>("GET", `/models/${segment(name)}/production`),
    decide: (name: string, version: number, decision: "approved" | "rejected", reason: string) =>
      call<{ version: ModelVersion }>("POST", `/models/${segment(name)}/versions/${version}/approvals`, {
        body: { decision, reason },
      }).then((answer) => answer.version),
    promote: (name: string, version: number, reason: string) =>
      call<{ model: Model; version: ModelVersion }>("PUT", `/models/${segment(name)}/versions/${version}/stage`, {
        body: { stage: "production", reason },
      }),
    rollback: (name: string, reason: string) =>
      call<{ model: Model; version: ModelVersion }>("POST", `/models/${segment(name)}/rollback`, { body: { reason } }),
  };
}

export type ApiClient = ReturnType<typeof createClient>;

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
