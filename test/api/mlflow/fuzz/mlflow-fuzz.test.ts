import fc from "fast-check";
import type { createApp } from "../../../../api/app";
import { createTransferApp } from "../../../../api/mlflow/artifacts/transfer-app";
import { mlflowOperations } from "../../../../api/mlflow/operations";
import { startTestApp } from "../../../support/app";
import type { Embedded } from "../../../support/embedded";
import { Knowledge } from "../../fuzz/knowledge";
import { Tally } from "../../fuzz/tally";
import { judge } from "./answers";
import { type Draft, draftsOf, filled, nameOf } from "./requests";
import { furnish, thingsIn } from "./world";

/** `RINGMASTER_FUZZ_REQUESTS=10000 RINGMASTER_FUZZ_SEED=7 npx jest test/api/mlflow/fuzz` goes deeper, or elsewhere. */
const requests = Number(process.env["RINGMASTER_FUZZ_REQUESTS"] ?? 300);
const seed = Number(process.env["RINGMASTER_FUZZ_SEED"] ?? 20_260_101);
/** Number of requests after which new things of every kind are created. */
const roundLength = 120;
/** From here on each operation must have succeeded at least once. */
const thorough = 10_000;

/** They refuse whatever comes: where files lie with us there is nothing to sign for clients that know the bucket. */
const neverSucceed: ReadonlySet<string> = new Set([
  "POST /mlflow/artifacts/presigned-upload-url",
  "POST /mlflow/artifacts/presigned-download-url",
]);

/** docs/mlflow.md, "Sending again". */
const onceOnly: ReadonlySet<string> = new Set([
  "POST /mlflow/experiments/create",
  "POST /mlflow/experiments/delete",
  "POST /mlflow/experiments/restore",
  "POST /mlflow/experiments/delete-experiment-tag",
  "POST /mlflow/runs/delete-tag",
  "DELETE /mlflow/logged-models/{model_id}/tags/{tag_key}",
  "POST /mlflow/registered-models/create",
  "POST /mlflow/registered-models/rename",
  "DELETE /mlflow/registered-models/delete",
  "DELETE /mlflow/model-versions/delete",
]);

let embedded: Embedded;
let app: ReturnType<typeof createApp>;
let transfers: ReturnType<typeof createTransferApp>;
const knowledge = new Knowledge([], 1);
const tally = new Tally(mlflowOperations.map(nameOf));

beforeAll(async () => {
  const started = await startTestApp();
  ({ embedded, app } = started);
  const { platform } = started;
  transfers = createTransferApp(platform);
});
afterAll(() => embedded.stop());

it("answers any request in MLflow's format, and never fails", async () => {
  let rounds = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(...mlflowOperations.map(draftsOf)), async (draft) => {
      if (tally.total >= rounds * roundLength) {
        knowledge.furnish(await furnish(app, rounds));
        rounds += 1;
      }
      await hold(draft);
    }),
    { numRuns: requests, seed, endOnFailure: requests > 5_000 },
  );
  if (requests > 5_000) process.stdout.write(`${tally.table()}\n`);
  const unreached = tally.unreached().filter((name) => !neverSucceed.has(name));
  if (requests >= thorough) expect(unreached).toEqual([]);
  // A fuzzer that only ever meets refusals tests little.
  else expect(unreached.length).toBeLessThan((2 * mlflowOperations.length) / 3);
}, 3_600_000);

async function hold(draft: Draft): Promise<void> {
  const { request, thing } = filled(draft, knowledge);
  const { succeeded, answer } = await send(request);
  const { next_page_token: token } = (answer ?? {}) as { readonly next_page_token?: string };
  if (token !== undefined) knowledge.keepToken(request.operation, request.path, token);
  knowledge.hear(thingsIn(answer).map((heard) => ({ ...thing, ...heard })));
  if (!draft.repeated) return;
  const again = await send(request);
  if (!succeeded || again.succeeded || onceOnly.has(request.operation)) return;
  throw new Error(`${again.shown}, though it had succeeded just before`);
}

async function send({ method, path, headers, body, bytes, operation, streamed }: Draft) {
  const through = streamed && operation.includes("artifact") ? transfers : app;
  const sent = body !== undefined && bytes ? Buffer.from(body, "latin1") : body;
  const response = await through.request(path, { method, headers: { ...headers }, body: sent });
  const text = await response.text();
  if (method === operation.split(" ")[0]) tally.count(operation, response.status);
  const request = JSON.stringify({ method, path, headers, body: body?.slice(0, 2_000) });
  const shown = `${request} was answered ${response.status}: ${text.slice(0, 2_000)}`;
  try {
    return { succeeded: response.status < 400, answer: judge(method, response, text), shown };
  } catch (cause) {
    throw new Error(`${(cause as Error).message}: ${shown}`, { cause });
  }
}
