import fc, { type Arbitrary } from "fast-check";
import { createApp } from "../../../api/app";
import { contracts } from "../../../api/contracts";
import type { OpenApiDocument } from "../../../api/openapi/model";
import { openApiText } from "../../../api/openapi/text";
import type { TestPlatform as Platform } from "../../support/embedded";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { type Chain, chains, type Step } from "./chains";
import { describedBy } from "./described";
import { goodBodies } from "./good";
import { Knowledge, type Thing, thingsIn } from "./knowledge";
import { assertMlflowAnswer, furnishMlflow, mlflowRequests } from "./mlflow";
import { type Draft, draftsOf, type FuzzRequest, filled, knownAs, operationsOf, parametersOf } from "./requests";
import { Tally } from "./tally";
import { createWorld, furnish, furnishExportable } from "./world";

/** `RINGMASTER_FUZZ_REQUESTS=10000 RINGMASTER_FUZZ_SEED=7 npx jest test/api/fuzz` goes deeper, or elsewhere. */
const requests = Number(process.env["RINGMASTER_FUZZ_REQUESTS"] ?? 300);
const seed = Number(process.env["RINGMASTER_FUZZ_SEED"] ?? 20_260_101);
/** Number of requests after which new things of every kind are created. */
const roundLength = 250;
const mlflowRoundLength = 120;
/** From here on each operation must have succeeded at least once. */
const thorough = 10_000;

const document = JSON.parse(openApiText()) as OpenApiDocument;
const operations = operationsOf(document);
const drafts = new Map([...operations].map(([id, described]) => [id, draftsOf(document, described)]));

/** Requests that are about one thing, or a single one about anything. */
interface Session {
  readonly about?: readonly string[];
  readonly drafts: readonly Draft[];
}

const single: Arbitrary<Session> = fc.oneof(...drafts.values()).map((draft) => ({ drafts: [draft] }));
const along: Arbitrary<Session> = fc
  .constantFrom(...chains)
  .chain(({ about, steps }: Chain) =>
    fc
      .tuple(
        ...steps.map((step) =>
          fc.oneof(
            { weight: 12, arbitrary: plainDraft(step) },
            { weight: 1, arbitrary: drafts.get(step.operationId)! },
          ),
        ),
      )
      .map((steps) => ({ about, drafts: steps })),
  );

/** As the chain says it. */
function plainDraft({ operationId, body, query = {}, headers = {}, path = {} }: Step): Arbitrary<Draft> {
  const { operation } = operations.get(operationId)!;
  const [known] = goodBodies[operationId] ?? [];
  const sent = body ?? (operation.requestBody ? known : undefined);
  const slots = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([name, literal]) => [name, { literal }]));
  const ofThing = parametersOf(document, operation)
    .filter((parameter) => parameter.in === "path")
    .map(({ name }) => [name, { known: knownAs(operation, name) }] as const);
  return fc.record({ at: fc.nat(10_000), repeated: fc.nat(9) }).map(({ at, repeated }) => ({
    operationId,
    at,
    path: { ...Object.fromEntries(ofThing), ...slots(path) },
    query: slots(query),
    headers: slots({ ...headers, ...(sent === undefined ? {} : { "content-type": "application/json" }) }),
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    follows: false,
    repeated: repeated === 0,
  }));
}

const embedded = useEmbedded();
let platform: Platform;
let app: ReturnType<typeof createApp>;
let knowledge: Knowledge;
const tally = new Tally(operations.keys());
const assertDescribed = describedBy(document, operations);

beforeAll(async () => {
  ({ platform } = createTestPlatform(embedded));
  await createWorld(platform);
  knowledge = new Knowledge(requests >= 3_000 ? await furnishExportable(platform) : []);
  // The caller that declares a check declares its URL.
  const hooks = {
    call: async () => ({ unanswered: "nothing leaves a test" }),
    problemOf: async () => undefined,
  };
  const deployment = { ...platform, forTeam: (team: string) => ({ ...platform.forTeam(team), hooks }) };
  app = createApp(deployment, { checkResponses: true });
});

it("whatever is sent, the API answers what its description says, and never fails", async () => {
  let rounds = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 12, arbitrary: single }, { weight: 1, arbitrary: along }), async (session) => {
      if (tally.total >= requests) return;
      if (tally.total >= rounds * roundLength) {
        knowledge.furnish(await furnish(platform, rounds));
        rounds += 1;
      }
      await hold(session);
    }),
    { numRuns: requests, seed, endOnFailure: requests > 5_000 },
  );
  if (requests > 5_000) process.stdout.write(`${tally.table()}\n`);
  if (requests >= thorough) expect(tally.unreached()).toEqual([]);
  // A fuzzer that only ever meets refusals tests little.
  else expect(tally.unreached().length).toBeLessThan(contracts.length / 2);
}, 3_600_000);

it("whatever is sent, MLflow's API answers in MLflow's format, and never fails", async () => {
  const known = new Knowledge();
  const answers = new Tally(mlflowRequests.keys());
  const sent = [...mlflowRequests.values()].map((described) => draftsOf(document, described));
  await fc.assert(
    fc.asyncProperty(fc.oneof(...sent), async (draft) => {
      if (answers.total % mlflowRoundLength === 0)
        known.furnish(await furnishMlflow(app, answers.total / mlflowRoundLength));
      const { request } = filled(mlflowRequests.get(draft.operationId)!, draft, known);
      const { operationId, method, path, headers, body } = request;
      const response = await app.request(path, { method, headers: { ...headers }, body });
      const text = await response.text();
      answers.count(operationId, response.status);
      try {
        assertMlflowAnswer(response, text);
      } catch (cause) {
        throw new Error(`${(cause as Error).message}: ${JSON.stringify(request)} was answered ${text}`, { cause });
      }
      if (response.ok && response.headers.get("content-type")?.startsWith("application/json"))
        known.hear(thingsIn(JSON.parse(text)));
    }),
    { numRuns: requests, seed, endOnFailure: requests > 5_000 },
  );
  if (requests > 5_000) process.stdout.write(`${answers.table()}\n`);
  // A fuzzer that only ever meets refusals tests little.
  expect(answers.unreached().length).toBeLessThan((2 * mlflowRequests.size) / 3);
}, 3_600_000);

async function hold({ about, drafts: steps }: Session): Promise<void> {
  let thing: Thing | undefined = about && (about.length > 0 ? knowledge.choose(about, steps[0]!.at * 4 + 1) : {});
  for (const draft of steps) {
    const { request, thing: named } = filled(operations.get(draft.operationId)!, draft, knowledge, thing);
    const { answer, succeeded } = await send(request);
    const things = thingsIn(answer);
    // A client continues with the thing that it has just created.
    if (thing !== undefined) thing = { ...thing, ...things[0] };
    knowledge.hear(things.map((heard) => (heard["model"] === named["model"] ? { ...named, ...heard } : heard)));
    if (draft.repeated) await sendAgain(request, succeeded);
  }
}

/**
 * Repeats a request that the document calls repeatable. It must succeed again, but a deleted thing may be gone (RFC
 * 9110, 9.2.2).
 */
async function sendAgain(request: FuzzRequest, succeeded: boolean): Promise<void> {
  const { repeatable } = operations.get(request.operationId)!.operation["x-ringmaster"];
  const again = await send(request);
  if (!succeeded || again.succeeded || repeatable === "never") return;
  if (request.method === "DELETE" && again.status === 404) return;
  if (repeatable === "with-key" && !request.headers["Idempotency-Key"]) return;
  throw new Error(`${JSON.stringify(request)} is repeatable, but the second time it was answered ${again.text}`);
}

interface Result {
  readonly status: number;
  readonly succeeded: boolean;
  readonly text: string;
  /** The JSON of a success. */
  readonly answer?: unknown;
}

async function send(request: FuzzRequest): Promise<Result> {
  const { operationId, method, path, headers, body } = request;
  const response = await app.request(`/api/v1${path}`, { method, headers: { ...headers }, body });
  const streams = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const text = streams ? await beginningOf(response) : await response.text();
  tally.count(operationId, response.status);
  if (response.status >= 500) throw new Error(`${JSON.stringify(request)} was answered ${response.status}: ${text}`);
  assertDescribed(request, response, text);
  const { status } = response;
  const succeeded = status < 400;
  if (!response.ok || !response.headers.get("content-type")?.startsWith("application/json"))
    return { status, succeeded, text };
  const answer = JSON.parse(text) as { readonly nextToken?: string };
  const [plain, search] = path.split("?");
  if (answer.nextToken !== undefined && !search?.includes("nextToken"))
    knowledge.keepToken(operationId, plain!, answer.nextToken);
  return { status, succeeded, text, answer };
}

/** Reads the start of a response. The stream of an open run lasts for minutes. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}
