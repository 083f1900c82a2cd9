import { z } from "zod";
import { contract } from "../contract";
import { examples } from "../examples";
import { nameText } from "../schemas/common";
import { reproduction } from "../schemas/reproduction";
import { run } from "../schemas/runs";

const ofRun = z.strictObject({ runId: nameText });

export const reproduceTrainingRun = contract({
  operationId: "reproduceTrainingRun",
  method: "POST",
  path: "/training-runs/{runId}/reproduce",
  tag: "Training runs",
  summary: "Run a run again from its record",
  description:
    "Creates a run of the same job, code, dataset version and seed, every step computed anew. It ends behind its evaluation: it registers and promotes nothing. " +
    "`GET /training-runs/{runId}/reproduction` of the new run tells whether its weights are the same.",
  params: ofRun,
  idempotencyKey: true,
  class: "heavy",
  responses: {
    201: {
      description: "The run that reproduces, new or that of the same key.",
      schema: z.object({ run }).meta({ id: "RunAnswer" }),
      example: { run: { ...examples.run, reproducedFrom: examples.run.runId } },
    },
  },
  errors: [
    "RUN_NOT_FOUND",
    "RUN_NOT_TRAINED",
    "IDEMPOTENCY_CONFLICT",
    "DATASET_NOT_FOUND",
    "DATASET_VERSION_NOT_FOUND",
  ],
});

export const getReproduction = contract({
  operationId: "getReproduction",
  method: "GET",
  path: "/training-runs/{runId}/reproduction",
  tag: "Training runs",
  summary: "Hold a run's weights against those of the run that it reproduces, or of any other",
  params: ofRun,
  query: z.strictObject({
    of: nameText.optional().meta({ description: "The other run; by default the one that this run reproduces." }),
  }),
  responses: {
    200: {
      description: "The verdict.",
      schema: z.object({ reproduction }).meta({ id: "ReproductionAnswer" }),
      example: {
        reproduction: {
          runId: "run-b",
          of: "run-a",
          verdict: "different",
          originalSha256: "a".repeat(64),
          reproductionSha256: "b".repeat(64),
          differences: [{ kind: "parameters", field: "seed", original: "7", reproduction: "8" }],
          agreement: {
            steps: 1,
            checkpoints: 0,
            first: { by: "metric", step: 1, metric: "train/loss", original: "1.098", reproduction: "1.127" },
          },
          explanation:
            "the weights differ: train/loss is the same before step 1, and 1.098 there against 1.127; the first fact that differs is of the parameters: seed is 7 there and 8 here",
        },
      },
    },
  },
  errors: ["RUN_NOT_FOUND", "NOT_A_REPRODUCTION"],
});
