import { createRunKeys } from "../../../adapters/dynamodb/run-keys";
import { createRunRepository } from "../../../adapters/dynamodb/run-repository";
import { Table } from "../../../adapters/dynamodb/table";
import { localConfig } from "../../../stack/settings";
import { useEmbedded } from "../../support/embedded";
import { recordOfRun, runOf } from "../../support/fixtures";

const embedded = useEmbedded();

it("creates a run's key once for concurrent requests, and shows it nowhere", async () => {
  const { catalog } = localConfig().tables;
  const keys = createRunKeys(new Table(embedded.dynamodb, catalog));
  const runs = createRunRepository(new Table(embedded.dynamodb, catalog));
  const run = runOf("run-1");
  await runs.create(run, recordOfRun(run));
  expect(await keys.find("run-1")).toBeUndefined();
  const made = await Promise.all(Array.from({ length: 8 }, () => keys.keyOf("run-1")));
  expect(new Set(made).size).toBe(1);
  expect(made[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(await keys.find("run-1")).toBe(made[0]);
  expect(await keys.keyOf("run-2")).not.toBe(made[0]);
  expect(JSON.stringify(await runs.findDetails("run-1"))).not.toContain(made[0]);
});
