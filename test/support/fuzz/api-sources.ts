import fc, { type Arbitrary } from "fast-check";
import type { OpenApiDocument } from "../../../api/openapi/model";
import { Knowledge, type Thing, thingsIn } from "../../api/fuzz/knowledge";
import { furnishMlflow, mlflowRequests } from "../../api/fuzz/mlflow";
import { type Described, draftsOf, filled, operationsOf } from "../../api/fuzz/requests";
import { heavyBodies } from "./heavy";
import type { FuzzAnswer } from "./request";
import type { FuzzCaller, FuzzCallers, RequestSource } from "./source";

const heavyEvery = 60;
const batch = 500;
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

interface Api {
  readonly name: "native" | "mlflow";
  readonly base: string;
  readonly operations: ReadonlyMap<string, Described>;
  readonly share: number;
  readonly rounds: (number: number) => number;
  readonly heavyNames: readonly string[];
}

/** Makes requests of the native API and of MLflow's protocol from their descriptions. */
export function apiSources(
  api: string,
  document: OpenApiDocument,
  callers: FuzzCallers,
  seed: number,
): readonly RequestSource[] {
  return [
    {
      ...({ name: "native", base: `${api}/api/v1`, operations: operationsOf(document), share: 0.4 } as const),
      ...{ rounds: (number: number) => 2 * number, heavyNames },
    },
    {
      ...({ name: "mlflow", base: api, operations: mlflowRequests, share: 0.35 } as const),
      ...{ rounds: (number: number) => 2 * number + 1, heavyNames: heavyMlflowNames },
    },
  ].map((each) => apiSource(api, each, document, callers, seed));
}

function apiSource(
  api: string,
  { name, base, operations, share, rounds, heavyNames }: Api,
  document: OpenApiDocument,
  { teams, all }: FuzzCallers,
  seed: number,
): RequestSource {
  const drafts = [...operations.values()].map((described) => draftsOf(document, described));
  const nextDraft = valuesOf(fc.tuple(fc.oneof(...drafts), fc.nat()), seed);
  const heavy = valuesOf(heavyBodies(heavyNames), seed);
  const knowledge = new Knowledge();
  let count = 0;
  let furnished: Promise<void> = Promise.resolve();
  const furnish = async (round: number): Promise<void> => {
    for (const team of teams) knowledge.furnish(await furnishFor(api, team, rounds(round)));
  };
  return {
    share,
    async next() {
      if (count % roundLength === 0) furnished = furnish(count / roundLength);
      count += 1;
      await furnished;
      const [draft, chance] = nextDraft();
      const { request } = filled(operations.get(draft.operationId)!, draft, knowledge);
      const { method, path, headers, body } = request;
      const isHeavy = chance % heavyEvery === 0 && method !== "GET" && method !== "DELETE";
      return {
        route: `${name} ${draft.operationId}`,
        method,
        url: `${base}${path}`,
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
      const path = request.url.slice(base.length).split("?")[0]!;
      if (content.nextToken !== undefined)
        knowledge.keepToken(request.route.slice(name.length + 1), path, content.nextToken);
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
