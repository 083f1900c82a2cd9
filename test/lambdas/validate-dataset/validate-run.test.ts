import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pushFile } from "../../../adapters/duckdb/push-file";
import { createStoreUploads } from "../../../adapters/s3/store-uploads";
import { validationKind } from "../../../core/datasets/contract/report";
import { parseDataContract } from "../../../core/datasets/contract/rules";
import { setDataContract } from "../../../core/datasets/contract/stored";
import { registerDataset } from "../../../core/datasets/register";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import type { DatasetManifest } from "../../../core/datasets/shapes";
import { findOutput } from "../../../core/runs/step";
import { producedArtifacts } from "../../../core/tracking/artifacts";
import { validateRun } from "../../../lambdas/validate-dataset/validate";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";
import { temporaryFolder } from "../../support/temporary-folder";
import { toyCsv, toySchema } from "../../support/toy";

describe("a run under a data contract", () => {
  const embedded = useEmbedded();
  let made: ReturnType<typeof createTestPlatform>;
  let platform: ReturnType<typeof made.platform.forTeam>;
  let manifest: DatasetManifest;
  const directory = temporaryFolder("ringmaster-test");
  let runs = 0;

  beforeAll(async () => {
    made = createTestPlatform(embedded);
    platform = made.platform.forTeam("vision");
    const file = join(directory, "toy.csv");
    writeFileSync(file, toyCsv(90));
    const { objects, datasets: repository, clock } = platform;
    const { registered } = await pushFile({
      ...{ name: "toy", file, schema: parseDatasetSchema(toySchema), uploads: createStoreUploads(objects) },
      register: (draft) => registerDataset({ repository, objects, clock }, draft),
    });
    manifest = registered.version.manifest;
  });

  async function newRun(createdAt = "2026-01-01T00:00:00.000Z"): Promise<string> {
    runs += 1;
    const runId = `run-${String(runs).padStart(16, "0")}`;
    const dataset = { name: "toy", version: 1, digest: manifest.digest };
    await platform.runs.create(runOf(runId, { team: "vision", dataset, createdAt }));
    return runId;
  }
  const set = (...rules: readonly string[]) =>
    setDataContract(
      { ...platform, contracts: platform.dataContracts },
      "toy",
      parseDataContract(`rules:\n${rules.map((rule) => `  - ${rule}\n`).join("")}`),
      { actor: "ada" },
    );

  it("reuses a validation under the same contract, and repeats it under another one", async () => {
    const first = await newRun();
    expect((await validateRun(platform, first)).reusedFrom).toBeUndefined();
    expect((await validateRun(platform, await newRun())).reusedFrom).toBe(first);
    await set("{rule: rowCount, minimum: 91, severity: warn}");
    const second = await newRun();
    const { output, reusedFrom } = await validateRun(platform, second);
    expect(reusedFrom).toBeUndefined();
    expect(output).toMatchObject({ contract: { revision: 1, status: "warned", rules: 1 } });
    expect(output.warnings).toContainEqual({
      code: "DATA_CONTRACT",
      message: "rows must have a count of at least 91: it is 90",
    });
    expect((await validateRun(platform, await newRun())).reusedFrom).toBe(second);
    const { steps } = (await platform.runs.findDetails(second))!;
    expect(steps.flatMap(producedArtifacts).map(({ path }) => path)).toContain("training/data/contract.json");
  });

  it("is refused with all violations in its record and one event, also if the function is invoked again", async () => {
    await set(
      "{rule: range, column: x1, maximum: 1}",
      "{rule: values, column: colour, values: [red]}",
      "{rule: notNull, column: gone, severity: warn}",
    );
    const runId = await newRun();
    for (let invocation = 0; invocation < 2; invocation += 1) {
      const refused = validateRun(platform, runId);
      await expect(refused).rejects.toMatchObject({ code: "DATA_CONTRACT_VIOLATED" });
      await expect(refused).rejects.toThrow(
        /violates 2 rules.*x1 must be at most 1: .*colour must be one of "red": 60 rows/,
      );
    }
    const details = await platform.runs.findDetails(runId);
    const { violations } = findOutput(details!, validationKind)!.contract!;
    expect(violations.map(({ columns, severity }) => [columns[0], severity])).toEqual([
      ["x1", "block"],
      ["colour", "block"],
      ["gone", "warn"],
    ]);
    const blocked = made.calls.notable.filter(({ type }) => type === "data-contract.blocked");
    expect(blocked[0]).toMatchObject({ team: "vision", dataset: "toy", version: 1, revision: 2, source: "run", runId });
    expect(new Set(blocked.map(({ id, at }) => `${id} ${at}`)).size).toBe(1);
  });

  it("measures ages at the hour of the run's creation", async () => {
    const day = '{rule: expression, expression: "x1 < 99"}';
    await set(day, "{rule: drift, column: x1, baseline: previous, maximum: 0.1}");
    const first = await newRun("2026-01-01T00:10:00.000Z");
    await validateRun(platform, first);
    // No rule is about ages, so the time does not count.
    expect((await validateRun(platform, await newRun("2026-06-01T00:00:00.000Z"))).reusedFrom).toBe(first);
    await set(day, "{rule: freshness, column: x1, maxAge: 1d, severity: warn}");
    const second = await newRun("2026-01-01T00:10:00.000Z");
    await validateRun(platform, second);
    expect((await validateRun(platform, await newRun("2026-01-01T00:59:00.000Z"))).reusedFrom).toBe(second);
    expect((await validateRun(platform, await newRun("2026-01-01T01:00:00.000Z"))).reusedFrom).toBeUndefined();
  });

  it("is tried again if the event was not accepted", async () => {
    await set("{rule: rowCount, minimum: 91}");
    const runEvents = { publishDataContractBlocked: () => Promise.reject(new Error("throttled")) };
    const refused = validateRun({ ...platform, runEvents }, await newRun());
    await expect(refused).rejects.toMatchObject({ code: "EVENT_NOT_ACCEPTED", retryable: true });
  });
});
