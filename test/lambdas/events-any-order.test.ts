import { seededRandom } from "../../bench/elastic/random";
import type { ModelEvent } from "../../core/registry/outbox";
import { createRule } from "../../core/retraining/lifecycle";
import { ruleDefinitionSchema } from "../../core/retraining/rule";
import { takeJobEvent } from "../../core/training/job-event";
import { readJobEvent } from "../../lambdas/finish-training/events";
import type { RetrainEvent } from "../../lambdas/retrain/events";
import { createRetrainHandler } from "../../lambdas/retrain/retrain";
import { createTestPlatform, type Embedded, startEmbedded } from "../support/embedded";
import { jobInput, registerTestDataset, runOf } from "../support/fixtures";
import { promoteJudged, versionOfRun } from "../support/registry";

type Test = ReturnType<typeof createTestPlatform>;

/** Something that events come to: what there is before them, each event's delivery, and what must be the same whatever their order and number. */
interface Consumer {
  readonly name: string;
  begin(
    test: Test,
    world: string,
  ): Promise<{ readonly deliveries: readonly (() => Promise<unknown>)[]; state(): Promise<unknown> }>;
}

const at = "2026-01-01T00:00:00.000Z";

const consumers: readonly Consumer[] = [
  {
    name: "finish-training, of Batch's jobs and their workers",
    async begin({ platform }, world) {
      const runId = `run-${world}`;
      await platform.runs.create(runOf(runId));
      const detail = (index: number, status: string, tries: number) => ({
        jobName: `${runId}-1`,
        jobId: `job-1:${index}`,
        status,
        createdAt: 1,
        arrayProperties: { index },
        attempts: Array.from({ length: tries }, () => ({ container: { exitCode: 137 }, startedAt: 1, stoppedAt: 2 })),
      });
      const told = [0, 1].flatMap((index) => [
        detail(index, "RUNNABLE", 0),
        detail(index, "STARTING", 0),
        detail(index, "RUNNING", 0),
        detail(index, "RUNNABLE", 1),
        detail(index, "RUNNING", 1),
      ]);
      return {
        deliveries: told.map((each) => async () => {
          const read = readJobEvent(each);
          if (read) await takeJobEvent(platform, platform.team, read);
        }),
        async state() {
          const { workers } = (await platform.runs.findDetails(runId))!;
          return workers.map(({ workerIndex, status, attempts }) => ({ workerIndex, status, tries: attempts.length }));
        },
      };
    },
  },
  {
    name: "retrain, of versions of datasets and of drift",
    async begin(test, world) {
      const { platform } = test;
      const dataset = `data-${world}`;
      await registerTestDataset(platform, dataset);
      const rule = (name: string, trigger: object) =>
        createRule(
          platform,
          ruleDefinitionSchema.parse({ name, trigger, job: jobInput({ dataset, evaluation: {} }) }),
          "test",
        );
      await rule(`on-${dataset}`, { type: "dataset", dataset });
      await rule(`drift-${dataset}`, { type: "drift", monitor: `m-${world}`, severity: "warning" });
      let ids = 0;
      const handle = createRetrainHandler(platform, platform.logger, () => `${world}${++ids}`);
      const drift = (hour: number) => ({
        "detail-type": "Drift Detected",
        source: "ringmaster",
        time: at,
        detail: {
          platform: platform.config.prefix,
          team: platform.team,
          monitor: `m-${world}`,
          windowEnd: `2026-01-01T0${hour}:00:00.000Z`,
          severity: "critical",
        },
      });
      const created = {
        "detail-type": "Object Created",
        source: "aws.s3",
        time: at,
        detail: {
          bucket: { name: platform.config.bucket },
          object: { key: `teams/${platform.team}/datasets/${dataset}/versions/1/manifest.json` },
        },
      };
      const events = [created, drift(1), drift(2), drift(3)] as unknown as readonly RetrainEvent[];
      return {
        deliveries: events.map((event) => () => handle(event)),
        async state() {
          const names = [`on-${dataset}`, `drift-${dataset}`];
          const causes = await Promise.all(names.map((name) => platform.retraining.listCauses(name, { limit: 50 })));
          return causes.map(({ items }) => items.map(({ id, state }) => `${id} ${state}`).sort());
        },
      };
    },
  },
  {
    name: "whoever follows a model's events by their revision",
    async begin({ platform, calls }, world) {
      const { registry } = platform;
      const model = `model-${world}`;
      for (const n of [1, 2, 3]) {
        await registry.register(platform.team, versionOfRun(model, `${world}-${n}`), { by: "test", at });
        await promoteJudged(registry, model, n);
      }
      await registry.rollBack(model, { by: "test", at });
      const events = calls.events.filter((event) => event.model === model);
      let known: ModelEvent | undefined;
      return {
        deliveries: events.map((event) => async () => {
          if (event.action !== "promoted" && event.action !== "rolled-back") return;
          if (known === undefined || known.revision < event.revision) known = event;
        }),
        state: async () => ({ served: known?.version, inProduction: (await registry.production(model)).version }),
      };
    },
  },
];

describe("events that come twice and in any order", () => {
  let embedded: Embedded;
  beforeAll(async () => {
    embedded = await startEmbedded();
  });
  afterAll(() => embedded.stop());

  it.each(consumers.map((consumer) => [consumer.name, consumer] as const))(
    "leave the same: %s",
    async (_, consumer) => {
      const name = consumer.name.slice(0, 2);
      const once = await consumer.begin(createTestPlatform(embedded), `${name}0`);
      for (const deliver of once.deliveries) await deliver();
      const expected = JSON.stringify(await once.state());
      for (let seed = 1; seed <= 4; seed += 1) {
        const { deliveries, state } = await consumer.begin(createTestPlatform(embedded), `${name}${seed}`);
        await deliverAnyhow(deliveries, seed);
        const found = JSON.stringify(await state()).replaceAll(`${name}${seed}`, `${name}0`);
        expect({ seed, found }).toEqual({ seed, found: expected });
      }
      // A consumer that did nothing would leave the same as well.
      expect(expected.length).toBeGreaterThan(20);
    },
  );
});

/** Each event twice, in an order drawn by chance; some at the same time. */
async function deliverAnyhow(deliveries: readonly (() => Promise<unknown>)[], seed: number): Promise<void> {
  const random = seededRandom(seed);
  const waiting = [...deliveries, ...deliveries];
  while (waiting.length > 0) {
    const together = Array.from(
      { length: 1 + Math.floor(random() * 2) },
      () => waiting.splice(Math.floor(random() * waiting.length), 1)[0],
    );
    await Promise.all(together.map((deliver) => deliver?.()));
  }
}
