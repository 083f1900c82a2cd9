import fc, { type Arbitrary } from "fast-check";
import { mlflowOperations } from "../../../api/mlflow/operations";
import type { OpenApiDocument } from "../../../api/openapi/model";
import { Knowledge, type Thing, thingsIn } from "../../api/fuzz/knowledge";
import * as native from "../../api/fuzz/requests";
import * as mlflow from "../../api/mlflow/fuzz/requests";
import { furnish, thingsIn as mlflowThingsIn } from "../../api/mlflow/fuzz/world";
import { heavyBodies } from "./heavy";
import type { FuzzAnswer, FuzzRequest } from "./request";
import type { FuzzCaller, FuzzCallers, RequestSource } from "./source";

/** One request in this many has a costly body. */
const heavyEvery = 60;
const batch = 500;

/** Returns values of an arbitrary in sequence, the same for the same seed. */
export function valuesOf<T>(arbitrary: Arbitrary<T>, seed: number): () => T {
  let left: T[] = [];
  let round = 0;
  return () => {
    if (left.length === 0) {
      left = fc.sample(arbitrary, { numRuns: batch, seed: seed + round });
      round += 1;
    }
    return left.pop()!;
  };
}

/** Requests of one source after which its callers get new objects. */
const roundLength = 1_500;

/** Creates experiments, runs, files, models and versions for a caller over MLflow's protocol. */
async function furnishFor(api: string, { headers }: FuzzCaller, round: number): Promise<readonly Thing[]> {
  // Rounds are minutes apart: the server may close a connection that was kept just when the next round uses it.
  const own = { ...headers, connection: "close" };
  const things = await furnish(
    { request: (path, init) => fetch(`${api}${path}`, { ...init, headers: { ...init.headers, ...own } }) },
    round,
  );
  return things.map((thing) => ({
    ...thing,
    runId: thing["run_id"],
    experimentId: thing["experiment_id"],
    model: thing["name"],
  }));
}

/** Calls `refresh` before the first request and before every later round, once. */
function inRounds(refresh: (round: number) => Promise<void>): () => Promise<void> {
  let count = 0;
  let refreshed: Promise<void> = Promise.resolve();
  return () => {
    if (count % roundLength === 0) refreshed = refresh(count / roundLength);
    count += 1;
    return refreshed;
  };
}

/** Makes requests of the native API from its description. */
export function nativeSource(
  api: string,
  document: OpenApiDocument,
  { teams, all }: FuzzCallers,
  seed: number,
): RequestSource {
  const operations = native.operationsOf(document);
  const drafts = [...operations.values()].map((described) => native.draftsOf(document, described));
  const next = valuesOf(fc.tuple(fc.oneof(...drafts), fc.nat()), seed);
  const heavy = valuesOf(heavyBodies(heavyNames), seed);
  const knowledge = new Knowledge();
  const round = inRounds(async (number) => {
    for (const team of teams) knowledge.furnish(await furnishFor(api, team, 2 * number));
  });
  return {
    share: 0.4,
    async next() {
      await round();
      const [draft, chance] = next();
      const { request } = native.filled(operations.get(draft.operationId)!, draft, knowledge);
      const { method, path, headers, body } = request;
      const isHeavy = chance % heavyEvery === 0 && method !== "GET" && method !== "DELETE";
      return {
        route: `native ${draft.operationId}`,
        method,
        url: `${api}/api/v1${path}`,
        headers: {
          ...validHeaders(headers, chance % 20 === 0),
          ...all[chance % all.length]!.headers,
          ...(isHeavy ? { "content-type": "application/json" } : {}),
        },
        ...(isHeavy ? { body: heavy()() } : body === undefined ? {} : { body }),
      };
    },
    learn(request, answer) {
      const content = jsonOf(answer) as { readonly nextToken?: string } | undefined;
      if (content === undefined) return;
      knowledge.hear(thingsIn(content));
      const path = request.url.slice(`${api}/api/v1`.length).split("?")[0]!;
      if (content.nextToken !== undefined)
        knowledge.keepToken(request.route.slice("native ".length), path, content.nextToken);
    },
  };
}

const heavyNames = [
  "series",
  "params",
  "tags",
  "filter",
  "orderBy",
  "contents",
  "draft",
  "job",
  "name",
  "observations",
  "units",
  "runs",
  "rules",
];

/** Makes requests of MLflow's protocol from its operations' fields. */
export function mlflowSource(api: string, { teams, all }: FuzzCallers, seed: number): RequestSource {
  const drafts = mlflowOperations.map((operation) => mlflow.draftsOf(operation));
  const next = valuesOf(fc.tuple(fc.oneof(...drafts), fc.nat()), seed);
  const names = [...new Set(mlflowOperations.flatMap(({ fields = {} }) => Object.keys(fields)))];
  const heavy = valuesOf(heavyBodies(names), seed);
  const knowledge = new Knowledge();
  const round = inRounds(async (number) => {
    for (const team of teams) knowledge.furnish(await furnishFor(api, team, 2 * number + 1));
  });
  return {
    share: 0.35,
    async next() {
      await round();
      const [draft, chance] = next();
      const { request } = mlflow.filled(draft, knowledge);
      const { method, path, headers, body, bytes } = request;
      const isHeavy = chance % heavyEvery === 0 && (method === "POST" || method === "PATCH");
      const sent = body === undefined ? undefined : bytes ? Buffer.from(body, "latin1") : body;
      return {
        route: `mlflow ${draft.operation}`,
        method,
        url: `${api}${path}`,
        headers: {
          ...validHeaders(headers, chance % 20 === 0),
          ...all[chance % all.length]!.headers,
          ...(isHeavy ? { "content-type": "application/json" } : {}),
        },
        ...(isHeavy ? { body: heavy()() } : sent === undefined ? {} : { body: sent }),
      };
    },
    learn(request: FuzzRequest, answer: FuzzAnswer) {
      const content = jsonOf(answer) as { readonly next_page_token?: string } | undefined;
      if (content === undefined) return;
      knowledge.hear(mlflowThingsIn(content));
      if (content.next_page_token === undefined) return;
      const path = request.url.slice(api.length);
      knowledge.keepToken(request.route.slice("mlflow ".length), path, content.next_page_token);
    },
  };
}

/** Drops headers that Node refuses to send. @param anyTeam whether the request may name a team, rarely the caller's */
function validHeaders(headers: Readonly<Record<string, string>>, anyTeam: boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(
        ([name]) =>
          /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) &&
          !/^(?:content-length|transfer-encoding)$/i.test(name) &&
          (anyTeam || !/^x-ringmaster-team$/i.test(name)),
      )
      .map(([name, value]) => [name, value.replaceAll(/[^\t\x20-\x7e]/g, "?")]),
  );
}

function jsonOf({ status, contentType, text }: FuzzAnswer): object | undefined {
  if (status >= 300 || status === 0 || !contentType.startsWith("application/json")) return undefined;
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null ? read : undefined;
  } catch {
    return undefined;
  }
}
