import type { MetricValue, Warning } from "../core/shapes";
import type { MetricSummary } from "../core/tracking/metric-store";
import type { Answer, Item, OperationName, PagedName, Request } from "./operations";
import { createTransport, type TransportOptions } from "./transport";

export type ClientOptions = TransportOptions;

type Query<Name extends OperationName> = Request<Name> extends { readonly query?: infer Q } ? Q : never;
type Body<Name extends OperationName> = Request<Name> extends { readonly body?: infer B } ? B : never;

/** Creates a typed client. Rejects with `ApiError`, `ApiUnreachableError` or `ApiTimeoutError`. */
export function createClient(options: ClientOptions) {
  const { call, text, pages, followRun } = createTransport(options);
  async function list<Name extends PagedName>(name: Name, request: Request<Name>): Promise<readonly Item<Name>[]> {
    const items: Item<Name>[] = [];
    for await (const item of pages(name, request)) items.push(item);
    return items;
  }
  return {
    call,
    text,
    pages,
    list,
    /** Yields events of a run until it has ended, with reconnections. */
    followRun,

    submitRun: async (body: Body<"submitTrainingRun">, idempotencyKey: string) =>
      (await call("submitTrainingRun", { body, idempotencyKey })).run,
    run: (runId: string) => call("getTrainingRun", { params: { runId } }),
    cancelRun: async (runId: string) => (await call("cancelTrainingRun", { params: { runId } })).run,
    reproduction: async (runId: string, of?: string) =>
      (await call("getReproduction", { params: { runId }, query: { of } })).reproduction,
    async metrics(runId: string): Promise<readonly MetricSummary[]> {
      const answer = (await call("getTrainingRunMetrics", { params: { runId } })) as Extract<
        Answer<"getTrainingRunMetrics">,
        { readonly metrics: unknown }
      >;
      return answer.metrics.map(decodedSummary);
    },

    datasets: () => list("listDatasets", { query: { limit: 200 } }),
    datasetVersions: (name: string) => list("listDatasetVersions", { params: { name }, query: { limit: 200 } }),
    dataset: async (name: string, version?: number) =>
      version === undefined
        ? (await call("getDataset", { params: { name } })).version
        : (await call("getDatasetVersion", { params: { name, version } })).version,
    registerDataset: (
      draft: Body<"registerDatasetVersion">["draft"],
      allowSchemaChange: boolean,
      sources: Body<"registerDatasetVersion">["sources"] = [],
      warnings: readonly Warning[] = [],
    ) =>
      call("registerDatasetVersion", {
        params: { name: draft.name },
        body: { draft, allowSchemaChange, sources, warnings: warnings.slice(0, 100) },
      }),
    deprecateDataset: async (name: string, version: number, reason: string) =>
      (await call("deprecateDatasetVersion", { params: { name, version }, body: { reason } })).version,
    dataContract: async (name: string, revision?: number) =>
      (await call("getDataContract", { params: { name }, query: { revision } })).contract,
    dataContracts: (name: string) => list("listDataContracts", { params: { name }, query: { limit: 200 } }),
    setDataContract: (name: string, body: Body<"setDataContract">) =>
      call("setDataContract", { params: { name }, body }),
    reportBlockedPush: (name: string, body: Body<"reportBlockedPush">) =>
      call("reportBlockedPush", { params: { name }, body }),
    inbox: (dataset?: string) => list("listInboxReports", { query: { limit: 200, dataset: dataset || undefined } }),
    retryInboxFile: async (id: string) => (await call("retryInboxFile", { params: { id } })).report,
    uploads: async (contents: Body<"createUploads">["contents"]) =>
      (await call("createUploads", { body: { contents } })).missing,
    datasetLineage: async (name: string, version: number, query: Query<"getDatasetLineage"> = {}) =>
      (await call("getDatasetLineage", { params: { name, version }, query })).lineage,
    contentUrl: async (sha256: string) => (await call("getContentUrl", { params: { sha256 } })).url,

    models: async () => (await call("listModels", {})).models,
    model: (name: string) => call("getModel", { params: { name } }),
    modelVersion: async (name: string, version: number) =>
      (await call("getModelVersion", { params: { name, version } })).version,
    production: (name: string) => call("getProductionModel", { params: { name } }),
    decide: async (name: string, version: number, body: Body<"decideModelVersion">, idempotencyKey: string) =>
      (await call("decideModelVersion", { params: { name, version }, body, idempotencyKey })).version,
    promote: (name: string, version: number, reason: string, idempotencyKey: string) =>
      call("setModelVersionStage", {
        params: { name, version },
        body: { stage: "production", reason },
        idempotencyKey,
      }),
    rollback: (name: string, body: Body<"rollBackModel">, idempotencyKey: string) =>
      call("rollBackModel", { params: { name }, body, idempotencyKey }),
  };
}

export type ApiClient = ReturnType<typeof createClient>;

/** Decodes a summary of JSON, where NaN and infinities are strings. */
export function decodedSummary<Rest extends object>({
  last,
  min,
  max,
  ...rest
}: Rest & Readonly<Record<"last" | "min" | "max", MetricValue>>) {
  return { ...rest, last: Number(last), min: Number(min), max: Number(max) };
}
