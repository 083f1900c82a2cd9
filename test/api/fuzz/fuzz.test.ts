import { createApp } from "../../../api/app";
import type { OpenApiDocument } from "../../../api/openapi/model";
import { openApiText } from "../../../api/openapi/text";
import type { TestPlatform as Platform } from "../../support/embedded";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { apiSource } from "../../support/fuzz/api-sources";
import type { FuzzRequest } from "../../support/fuzz/request";
import { describedBy } from "./described";
import { assertMlflowAnswer, furnishMlflow, mlflowRequests } from "./mlflow";
import { type Described, operationsOf } from "./requests";
import { createWorld, furnish } from "./world";

/** `RINGMASTER_FUZZ_REQUESTS=10000 RINGMASTER_FUZZ_SEED=7 npx jest test/api/fuzz` goes deeper, or elsewhere. */
const requests = Number(process.env["RINGMASTER_FUZZ_REQUESTS"] ?? 400);
const seed = Number(process.env["RINGMASTER_FUZZ_SEED"] ?? 20_260_101);

const document = JSON.parse(openApiText()) as OpenApiDocument;
const embedded = useEmbedded();
let platform: Platform;
let app: ReturnType<typeof createApp>;

beforeAll(async () => {
  ({ platform } = createTestPlatform(embedded));
  await createWorld(platform);
  // The caller that declares a check declares its URL.
  const hooks = {
    call: async () => ({ unanswered: "nothing leaves a test" }),
    problemOf: async () => undefined,
  };
  const deployment = { ...platform, forTeam: (team: string) => ({ ...platform.forTeam(team), hooks }) };
  app = createApp(deployment, { checkResponses: true });
});

/** Throws for an answer that is not as its API describes it. */
type Check = (operationId: string, response: Response, text: string) => void;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
}

async function send({ method, url, headers, body, ...request }: FuzzRequest, check: Check): Promise<Answer> {
  const response = await app.request(url, { method, headers: { ...headers }, body: body as string | undefined });
  const contentType = response.headers.get("content-type") ?? "";
  const text = contentType.startsWith("text/event-stream") ? await beginningOf(response) : await response.text();
  try {
    check(request.route.slice(request.route.indexOf(" ") + 1), response, text);
  } catch (cause) {
    const shown = JSON.stringify({ ...request, method, url, headers, body });
    throw new Error(`${(cause as Error).message}: ${shown} was answered ${response.status}: ${text}`, { cause });
  }
  return { status: response.status, text, contentType };
}

/** The stream of an open run lasts for minutes. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** A fuzzer that only ever meets refusals tests little. @returns the share of the operations that have succeeded */
async function campaign(
  source: ReturnType<typeof apiSource>,
  operations: ReadonlyMap<string, Described>,
  check: Check,
): Promise<number> {
  const succeeded = new Set<string>();
  for (let sent = 0; sent < requests; sent += 1) {
    const request = await source.next();
    const answer = await send(request, check);
    source.learn(request, answer);
    if (answer.status >= 400) continue;
    const operationId = request.route.slice(request.route.indexOf(" ") + 1);
    succeeded.add(operationId);
    if (sent % 5 === 0) await sendAgain(request, operations.get(operationId)!, check);
  }
  return succeeded.size / operations.size;
}

/**
 * Repeats a request that succeeded and that the document calls repeatable. It must succeed again, but a deleted thing
 * may be gone (RFC 9110, 9.2.2).
 */
async function sendAgain(request: FuzzRequest, { operation }: Described, check: Check): Promise<void> {
  const { repeatable } = operation["x-ringmaster"];
  if (repeatable === "never" || (repeatable === "with-key" && !request.headers["Idempotency-Key"])) return;
  const { status, text } = await send(request, check);
  if (status < 400 || (request.method === "DELETE" && status === 404)) return;
  throw new Error(`${JSON.stringify(request)} is repeatable, but the second time it was answered ${text}`);
}

it("whatever is sent, the API answers what its description says, and never fails", async () => {
  const operations = operationsOf(document);
  const assertDescribed = describedBy(document, operations);
  const source = apiSource({
    ...{ name: "native", base: "/api/v1", operations, document, seed, roundLength: 250 },
    furnish: (round) => furnish(platform, round),
  });
  const share = await campaign(source, operations, (operationId, response, text) => {
    if (response.status >= 500) throw new Error("it failed");
    assertDescribed(operationId, response, text);
  });
  expect(share).toBeGreaterThan(0.5);
}, 3_600_000);

it("whatever is sent, MLflow's API answers in MLflow's format, and never fails", async () => {
  const source = apiSource({
    ...{ name: "mlflow", base: "", operations: mlflowRequests, document, seed, roundLength: 120 },
    furnish: (round) => furnishMlflow(app, round),
  });
  const check: Check = (_, response, text) => assertMlflowAnswer(response, text);
  expect(await campaign(source, mlflowRequests, check)).toBeGreaterThan(0.33);
}, 3_600_000);
