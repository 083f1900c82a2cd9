import fc, { type Arbitrary } from "fast-check";
import type { OpenApiDocument } from "../../../api/openapi/model";
import { Knowledge, type Thing, thingsIn } from "../../api/fuzz/knowledge";
import { furnishMlflow, mlflowRequests } from "../../api/fuzz/mlflow";
import { type Described, draftsOf, filled, operationsOf } from "../../api/fuzz/requests";
import { heavyBodies } from "./heavy";
import type { FuzzAnswer } from "./request";
import type { FuzzCaller, FuzzCallers, RequestSource } from "./source";

const heavyEvery = 60;
const batch = 250;
/** Requests of one source after which its callers get new objects. */
const roundLength = 1_500;

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

async function furnishFor(api: string, { headers }: FuzzCaller, round: number): Promise<readonly Thing[]> {
  // Rounds are minutes apart: the server may close a connection that was kept just when the next round uses it.
  const own = { ...headers, connection: "close" };
  const things = await furnishMlflow(
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

interface ApiOptions {
  readonly name: "native" | "mlflow";
  readonly base: string;
  readonly operations: ReadonlyMap<string, Described>;
  readonly document: OpenApiDocument;
  readonly seed: number;
  /** Number of requests after which new things are created. */
  readonly roundLength: number;
  furnish(round: number): Promise<readonly Thing[]>;
}

/** Requests of one API, made from its description. */
export function apiSource(options: ApiOptions): Omit<RequestSource, "share"> {
  const { name, base, operations, document, seed, furnish } = options;
  const drafts = [...operations.values()].map((described) => draftsOf(document, described));
  const nextDraft = valuesOf(fc.oneof(...drafts), seed);
  const knowledge = new Knowledge();
  let count = 0;
  let furnished: Promise<void> = Promise.resolve();
  const renew = async (round: number): Promise<void> => knowledge.furnish(await furnish(round));
  return {
    async next() {
      if (count % options.roundLength === 0) furnished = renew(count / options.roundLength);
      count += 1;
      await furnished;
      const draft = nextDraft();
      const { method, path, headers, body } = filled(operations.get(draft.operationId)!, draft, knowledge);
      return {
        ...{ route: `${name} ${draft.operationId}`, method, url: `${base}${path}`, headers },
        ...(body === undefined ? {} : { body }),
      };
    },
    learn(request, answer) {
      const content = jsonOf(answer) as { readonly nextToken?: string } | undefined;
      if (content === undefined) return;
      knowledge.hear(thingsIn(content));
      const path = request.url.slice(base.length).split("?")[0]!;
      if (content.nextToken !== undefined)
        knowledge.keepToken(request.route.slice(name.length + 1), path, content.nextToken);
    },
  };
}

/** Makes requests of the native API and of MLflow's protocol, some with a costly body, by all callers. */
export function apiSources(
  api: string,
  document: OpenApiDocument,
  { teams, all }: FuzzCallers,
  seed: number,
): readonly RequestSource[] {
  const furnish = async (round: number): Promise<readonly Thing[]> =>
    (await Promise.all(teams.map((team) => furnishFor(api, team, round)))).flat();
  const shared = { document, seed, roundLength };
  const native = apiSource({
    ...{ name: "native", base: `${api}/api/v1`, operations: operationsOf(document), ...shared },
    furnish: (round) => furnish(2 * round),
  });
  const mlflow = apiSource({
    ...{ name: "mlflow", base: api, operations: mlflowRequests, ...shared },
    furnish: (round) => furnish(2 * round + 1),
  });
  return [
    { share: 0.4, ...called(native, all, valuesOf(heavyBodies(heavyNames), seed)) },
    { share: 0.35, ...called(mlflow, all, valuesOf(heavyBodies(heavyMlflowNames), seed)) },
  ];
}

function called(
  source: Omit<RequestSource, "share">,
  callers: readonly FuzzCaller[],
  heavy: () => () => string,
): Omit<RequestSource, "share"> {
  let number = 0;
  return {
    ...source,
    async next() {
      const request = await source.next();
      number += 1;
      const isHeavy = number % heavyEvery === 0 && request.method !== "GET" && request.method !== "DELETE";
      return {
        ...request,
        headers: {
          ...validHeaders(request.headers, number % 20 === 0),
          ...callers[number % callers.length]!.headers,
          ...(isHeavy ? { "content-type": "application/json" } : {}),
        },
        ...(isHeavy ? { body: heavy()() } : {}),
      };
    },
  };
}

const heavyNames = [
  ...["series", "params", "tags", "filter", "orderBy", "contents", "draft", "job", "name", "observations", "units"],
  ...["runs", "rules"],
];
const heavyMlflowNames = ["metrics", "params", "tags", "filter", "order_by", "datasets", "models", "key", "value"];

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
