import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import fc from "fast-check";
import { contracts } from "../../../../core/api/contracts";
import { openApiDocument } from "../../../../core/api/openapi/document";
import type { JsonSchema, MediaType, ResponseObject } from "../../../../core/api/openapi/model";
import { createApp } from "../../../../lambdas/api/app";
import { createTestPlatform, type Embedded, startEmbedded } from "../../../support/embedded";
import { type FuzzRequest, requestsOf, type World } from "./requests";
import { createWorld } from "./world";

/** `RINGMASTER_FUZZ=10000 RINGMASTER_FUZZ_SEED=7 npx jest test/lambdas/api/fuzz` goes deeper, or elsewhere. */
const requests = Number(process.env["RINGMASTER_FUZZ"] ?? 300);
const seed = Number(process.env["RINGMASTER_FUZZ_SEED"] ?? 20_260_101);

const document = openApiDocument(contracts);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "api", components: document.components });

let embedded: Embedded;
let app: ReturnType<typeof createApp>;
let world: World;
beforeAll(async () => {
  embedded = await startEmbedded();
  const { platform } = createTestPlatform(embedded);
  world = await createWorld(platform);
  app = createApp(platform, { checkResponses: true });
});
afterAll(() => embedded.stop());

it("whatever is sent, the API answers what its description says, and never fails", async () => {
  const answers = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(requestsOf(document, world), async (request) => {
      const response = await app.request(`/api/v1${request.path}`, {
        method: request.method,
        headers: { ...request.headers },
        body: request.body,
      });
      const text = await response.text();
      const key = `${request.operationId} ${response.status}`;
      answers.set(key, (answers.get(key) ?? 0) + 1);
      if (response.status >= 500) throw new Error(`answered ${response.status}: ${text}`);
      assertDescribed(request, response, text);
    }),
    { numRuns: requests, seed, endOnFailure: requests > 5_000 },
  );
  if (requests > 5_000) process.stdout.write(`${requests} requests:\n${table(answers)}\n`);
  const reached = [...answers.keys()].filter((key) => key.includes(" 2")).map((key) => key.split(" ")[0]);
  // A fuzzer that only ever meets refusals tests little.
  expect(new Set(reached).size).toBeGreaterThanOrEqual(contracts.length / (requests < 3_000 ? 4 : 2));
}, 600_000);

const validators = new Map<JsonSchema, ValidateFunction>();

/** Against the document, by a validator that is none of ours. */
function assertDescribed(request: FuzzRequest, response: Response, text: string): void {
  const operation = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .find(({ operationId }) => operationId === request.operationId)!;
  const found = operation.responses[String(response.status)];
  // Odd path values may make another path, which answers 404 or 405.
  if (found === undefined && (response.status === 404 || response.status === 405)) return;
  if (found === undefined) throw new Error(`${response.status} is not described: ${text}`);
  const described = (
    "$ref" in found ? document.components.responses[found.$ref.split("/").at(-1)!] : found
  ) as ResponseObject;
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const media: MediaType | undefined = described.content?.[type];
  if (media === undefined) throw new Error(`${response.status} with ${type} is not described`);
  if (media.schema === undefined) return;
  let validate = validators.get(media.schema);
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"api#/')) as object);
    validators.set(media.schema, validate);
  }
  if (!validate(JSON.parse(text))) throw new Error(`${JSON.stringify(validate.errors)} in ${text.slice(0, 2_000)}`);
}

function table(answers: ReadonlyMap<string, number>): string {
  return [...answers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, count]) => `${String(count).padStart(7)}  ${key}`)
    .join("\n");
}
