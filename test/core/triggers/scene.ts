import type { Cause } from "../../../core/triggers/cause";
import type { FireDependencies } from "../../../core/triggers/fire";
import { createTrigger, type TriggerDependencies } from "../../../core/triggers/lifecycle";
import { type Trigger, type TriggerDefinitionInput, triggerDefinitionSchema } from "../../../core/triggers/trigger";
import { type Calls, createTestPlatform, type Embedded } from "../../support/embedded";
import { jobInput, registerTestDataset } from "../../support/fixtures";

export const minute = 60_000;

/** A team of its own on real stores, with a clock that a test moves, and a dataset that has one version. */
export async function createScene(embedded: Embedded, team: string) {
  const { platform, calls } = createTestPlatform(embedded);
  const clock = {
    time: Date.parse("2026-01-01T12:00:00.000Z"),
    now: () => clock.time,
  };
  const scoped = { ...platform.forTeam(team), clock };
  let ids = 0;
  const dependencies: FireDependencies & TriggerDependencies = {
    ...scoped,
    randomId: () => {
      ids += 1;
      return String(ids).padStart(16, "0");
    },
  };
  await registerTestDataset(scoped, "digits", 100);
  clock.time += minute;

  const create = (more: Partial<TriggerDefinitionInput>) => {
    const definition = triggerDefinitionSchema.parse({
      name: "on-digits",
      on: { type: "dataset", dataset: "digits" },
      start: { job: jobInput({ evaluation: {} }) },
      concurrency: "allow",
      ...more,
    });
    return createTrigger(dependencies, definition, { by: "ada" });
  };

  return {
    platform: scoped,
    deployment: { ...platform, clock, forTeam: (name: string) => ({ ...platform.forTeam(name), clock }) },
    dependencies,
    clock,
    calls: calls as Calls,
    trigger: async (more: Partial<TriggerDefinitionInput> = {}): Promise<Trigger> => (await create(more)).trigger,
    create,
    /** The next version of the digits, of so many rows. */
    push: async (rows: number): Promise<Extract<Cause, { type: "dataset" }>> => {
      clock.time += minute;
      const { digest } = await registerTestDataset(scoped, "digits", rows);
      const version = (await scoped.datasets.findByDigest("digits", digest))!;
      const { version: number, createdAt } = version.manifest;
      return { type: "dataset", at: createdAt, dataset: "digits", version: number };
    },
    runs: async () => (await scoped.runs.list({ limit: 100 })).runs,
  };
}

export type Scene = Awaited<ReturnType<typeof createScene>>;
