import * as z from "zod";
import { count, type Shape } from "../shapes";

export const progressSchema = z.object({
  step: count,
  totalSteps: count,
  epoch: count,
  epochs: count,
  generation: count,
  worldSize: count,
  loss: z.number().nullable(),
  samplesPerSecond: z.number().meta({
    description: "Samples of finished steps per second of wall-clock time, validations included: over the last 30 s.",
  }),
  backend: z.enum(["native", "wasm"]),
  workers: z
    .array(
      z.object({
        rank: count,
        memberId: z.string(),
        workerIndex: count,
        host: z.string(),
        pid: count,
        state: z.enum(["joining", "training", "left", "lost"]),
        step: count,
      }),
    )
    .meta({ description: "Indexed by rank." }),
});
export interface TrainingProgress extends Shape<typeof progressSchema> {}
export type WorkerProgress = TrainingProgress["workers"][number];
