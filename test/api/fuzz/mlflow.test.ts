import fc from "fast-check";
import { contracts } from "../../../api/contracts";
import { openApiDocument } from "../../../api/openapi/document";
import { startTestApp } from "../../support/app";
import type { Embedded } from "../../support/embedded";
import { Knowledge, thingsIn } from "./knowledge";
import { assertMlflowAnswer, furnishMlflow, mlflowRequests } from "./mlflow";
import { draftsOf, filled } from "./requests";
import { Tally } from "./tally";

/** `RINGMASTER_FUZZ_REQUESTS=10000 RINGMASTER_FUZZ_SEED=7 npx jest test/api/fuzz` goes deeper, or elsewhere. */
const requests = Number(process.env["RINGMASTER_FUZZ_REQUESTS"] ?? 300);
const seed = Number(process.env["RINGMASTER_FUZZ_SEED"] ?? 20_260_101);
/** Number of requests after which new things of every kind are created. */
const roundLength = 120;

let embedded: Embedded;
let app: Awaited<ReturnType<typeof startTestApp>>["app"];
beforeAll(async () => {
  ({ embedded, app } = await startTestApp());
});
afterAll(() => embedded.stop());

it("whatever is sent, MLflow's API answers in MLflow's format, and never fails", async () => {
  const document = openApiDocument(contracts);
  const knowledge = new Knowledge();
  const tally = new Tally(mlflowRequests.keys());
  const drafts = [...mlflowRequests.values()].map((described) => draftsOf(document, described));
  await fc.assert(
    fc.asyncProperty(fc.oneof(...drafts), async (draft) => {
      if (tally.total % roundLength === 0) knowledge.furnish(await furnishMlflow(app, tally.total / roundLength));
      const { request } = filled(mlflowRequests.get(draft.operationId)!, draft, knowledge);
      const { operationId, method, path, headers, body } = request;
      const response = await app.request(path, { method, headers: { ...headers }, body });
      const text = await response.text();
      tally.count(operationId, response.status);
      try {
        assertMlflowAnswer(response, text);
      } catch (cause) {
        throw new Error(`${(cause as Error).message}: ${JSON.stringify(request)} was answered ${text}`, { cause });
      }
      if (response.ok && response.headers.get("content-type")?.startsWith("application/json"))
        knowledge.hear(thingsIn(JSON.parse(text)));
    }),
    { numRuns: requests, seed, endOnFailure: requests > 5_000 },
  );
  if (requests > 5_000) process.stdout.write(`${tally.table()}\n`);
  // A fuzzer that only ever meets refusals tests little.
  expect(tally.unreached().length).toBeLessThan((2 * mlflowRequests.size) / 3);
}, 3_600_000);
