import { objectKeys } from "../../../core/object-keys";
import { trainingResult } from "../../../core/runs/training-task";
import { publishResult, type ResultOptions } from "../../../trainer-container/host/result";
import { planTraining } from "../../../trainer-container/loop/plan";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { resultOf } from "../../support/fixtures";
import { taskOf } from "../loop/in-process";
import { linearModel } from "../loop/linear-model";

describe("publishResult", () => {
  const key = objectKeys.trainingResult("run-1");
  let slept: number;
  let stored: string[];

  beforeEach(() => {
    slept = 0;
    stored = [];
  });

  /** @param happens after so many milliseconds of waiting. */
  function publish(
    store: ReturnType<typeof createMemoryObjectStore>,
    rank: number,
    ranksBefore: () => number,
    happens: ReadonlyMap<number, () => Promise<unknown>> = new Map(),
    changes: Partial<Omit<ResultOptions, "end">> & { readonly end?: Partial<ResultOptions["end"]> } = {},
  ) {
    const model = linearModel(2, 2);
    const options: ResultOptions = {
      store,
      clock: { now: () => 0 },
      runId: "run-1",
      model,
      weights: new Float32Array(model.parameterCount),
      plan: planTraining(taskOf(), 100),
      numerics: resultOf("run-1").numerics,
      otherNumerics: [],
      ...changes,
      end: {
        end: "completed",
        rank,
        generation: 1,
        finishedSteps: 12,
        train: { loss: 1, weight: 1, metrics: {} },
        ranksBefore,
        ...changes.end,
      },
      beforeVisible: async () => void stored.push(`rank ${rank}`),
      sleep: async (ms) => {
        slept += ms;
        await happens.get(slept)?.();
      },
    };
    return publishResult(options);
  }

  it("is done at once by the first rank", async () => {
    const store = createMemoryObjectStore();
    expect(await publish(store, 0, () => 0)).toMatchObject({ runId: "run-1", generations: 1 });
    expect([slept, stored]).toEqual([0, ["rank 0"]]);
  });

  it("stores a document that the platform accepts, whatever the numbers of the training are", async () => {
    const metrics = { tiny: 1e-200, huge: -1e300, none: Number.NaN, endless: Number.POSITIVE_INFINITY };
    const train = { loss: 1e-300, weight: 1, metrics };
    const best = { epoch: 1, train, validation: train, value: 1e-200, weights: new Float32Array(6) };
    const earlyStopping = { metric: "validation/tiny", patience: 1, minDelta: 0 };
    const result = await publish(createMemoryObjectStore(), 0, () => 0, new Map(), {
      plan: { ...planTraining(taskOf(), 100), earlyStopping },
      end: { train, validation: train, best },
    });
    expect(trainingResult.schema.parse(JSON.parse(JSON.stringify(result)))).toMatchObject({
      metrics: { "train/loss": 0, "train/tiny": 0, "train/huge": -9.99e125, "validation/loss": 0 },
      earlyStopping: { value: 0 },
    });
    expect(Object.keys(result.metrics)).toHaveLength(6);
  });

  it.each<[what: string, rank: number, at: number, happens: "stored" | "gone" | "both" | "nothing", stores: boolean]>([
    ["left to the ranks before, whose result is taken", 2, 500, "stored", false],
    ["done at once where the rank before has gone without", 1, 300, "gone", true],
    ["taken from a leader that stored it and left", 1, 300, "both", false],
    ["done in turn where ranks before live and store nothing", 2, 20_000, "nothing", true],
  ])("is %s", async (_, rank, at, happens, stores) => {
    const store = createMemoryObjectStore();
    let before = rank;
    const event = async () => {
      if (happens === "gone" || happens === "both") before = 0;
      if (happens === "stored" || happens === "both")
        await store.put(key, JSON.stringify({ ...resultOf("run-1"), generations: 9 }));
    };
    const result = await publish(store, rank, () => before, new Map([[at, event]]));
    expect([slept, stored, result.generations]).toEqual([at, stores ? [`rank ${rank}`] : [], stores ? 1 : 9]);
  });

  it.each([
    ["the same weights: that one stands", undefined, { generations: 9 }],
    ["other weights: that is an error", "f".repeat(64), { code: "OBJECT_DIFFERS" }],
  ])("meets one that was stored at the same time, of %s", async (_what, weightsSha256, expected) => {
    const memory = createMemoryObjectStore();
    const same = (await publish(createMemoryObjectStore(), 0, () => 0)).weightsSha256;
    const store = {
      ...memory,
      async putContentStream(...given: Parameters<typeof memory.putContentStream>) {
        const sha256 = weightsSha256 ?? same;
        const other = { ...resultOf("run-1"), generations: 9, weights: { sha256, bytes: 4 }, weightsSha256: sha256 };
        await memory.put(key, JSON.stringify(other));
        return memory.putContentStream(...given);
      },
    };
    const outcome = await publish(store, 0, () => 0).catch((error: unknown) => error);
    expect(outcome).toMatchObject(expected);
  });
});
