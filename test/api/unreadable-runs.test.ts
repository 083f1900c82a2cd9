import { Table } from "../../adapters/dynamodb/table";
import { localConfig } from "../../stack/settings";
import { callApp, useTestApp } from "../support/app";
import { cliOverApp } from "../support/cli-over-app";
import { createEvaluatedRun } from "../support/evaluated-run";

/** Rows of a run as no version of the platform writes them. */
const damages: readonly { readonly what: string; readonly sk: string; readonly attributes: object }[] = [
  { what: "its record is a text", sk: "RECORD", attributes: { record: "evil" } },
  { what: "its record is packed and cannot be inflated", sk: "RECORD", attributes: { packed: Buffer.from("evil") } },
  { what: "its run is empty", sk: "RUN", attributes: { data: {} } },
  { what: "its run has another job", sk: "RUN", attributes: { data: { runId: "x", job: { evil: true } } } },
  { what: "its run is a text", sk: "RUN", attributes: { data: "evil" } },
  { what: "its training has an output without numerics", sk: "STEP#LaunchTraining", attributes: { record: {} } },
  {
    what: "its training has an output whose numerics lack the processor",
    sk: "STEP#LaunchTraining",
    attributes: { record: { step: "LaunchTraining", output: { weightsSha256: "a".repeat(64), numerics: {} } } },
  },
];

describe("a run with a damaged row", () => {
  const { embedded, platform, app } = useTestApp();
  beforeAll(async () => {
    await createEvaluatedRun(platform, "run-good", { classes: ["n", "y"], labels: [0, 1], outputs: [0.1, 0.9] });
  });
  const call = (method: string, path: string, body?: unknown) => callApp(app, method, path, body);

  async function expectInCli(runId: string): Promise<void> {
    const cli = await cliOverApp(app);
    const [list, search] = await Promise.all([cli.run("runs", "list"), cli.run("runs", "search")]);
    await cli.stop();
    expect([list.code, list.out]).toEqual([0, expect.stringContaining(`${runId} cannot be read; delete it`)]);
    expect(search.out).toMatch(new RegExp(`${runId}\\s.*unreadable`));
  }

  it.each(damages)("is listed, searched, compared and deleted: $what", async ({ what, sk, attributes }) => {
    const runId = `run-bad-${damages.findIndex((each) => each.attributes === attributes)}`;
    await createEvaluatedRun(platform, runId, { classes: ["n", "y"], labels: [0, 1], outputs: [0.1, 0.9] });
    const table = new Table(embedded.dynamodb, localConfig().tables.catalog);
    const { record: _, packed: __, ...row } = (await table.get({ pk: `RUN#${runId}`, sk }))!;
    await table.put({ ...row, ...attributes });

    const found = await call("POST", "/runs/search", { limit: 100 });
    const { experimentId } = (await call("GET", "/runs/run-good")).body.run;
    const answers = [
      found,
      await call("GET", "/training-runs"),
      await call("GET", `/experiments/${experimentId}/runs`),
      await call("POST", "/runs/compare", { runs: ["run-good", runId] }),
      await call("GET", `/runs/${runId}`),
    ];
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(answers.map(() => [200, undefined]));
    const shown = found.body.runs.map(({ run }: { run: { runId: string; unreadable?: string } }) => run);
    expect(shown.find((one: { runId: string }) => one.runId === runId).unreadable).toEqual(expect.any(String));
    expect(shown.find((one: { runId: string }) => one.runId === "run-good").unreadable).toBeUndefined();
    for (const path of [`experiments/${experimentId}`, `runs/${runId}`]) {
      const page = await app.request(`/api/v1/pages/${path}`);
      expect([page.status, (await page.text()).includes("unreadable")]).toEqual([200, true]);
    }

    if (what === "its run is empty") await expectInCli(runId);
    expect((await call("DELETE", `/runs/${runId}`)).status).toBe(200);
    const left = (await call("POST", "/runs/search", { limit: 100 })).body.runs;
    expect(left.map(({ run }: { run: { runId: string } }) => run.runId)).toEqual(["run-good"]);
  });
});
