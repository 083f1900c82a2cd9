import * as z from "zod";
import { fineTuneSource } from "../runs/fine-tune";
import { count, instant, type Shape } from "../shapes";
import { settingValue } from "./space";
import { studyDefinitionSchema } from "./study";

export const studyStatuses = ["running", "stopping", "completed", "stopped"] as const;

export const trialStates = ["running", "paused", "completed", "stopped", "failed"] as const;

const point = z
  .record(z.string(), settingValue)
  .meta({ description: "Value of each active parameter, by its path in the job." });

export const trial = z
  .object({
    number: count,
    params: point,
    state: z.enum(trialStates).meta({
      description:
        "`paused`: reached a rung and waits for the scheduler. `stopped`: the scheduler does not continue it; it can still be resumed.",
    }),
    until: count.meta({ description: "Epoch at which its current or last segment ends." }),
    segment: count.meta({ description: "Number of times that it was resumed." }),
    bracket: count.optional(),
    from: z
      .object({ trial: count, epoch: count })
      .optional()
      .meta({ description: "Trial and epoch with whose checkpoint its current run began." }),
    firstSegment: count
      .optional()
      .meta({ description: "Segment with which its current run began; absent: the first." }),
    runId: z.string().optional(),
    reports: z
      .array(z.object({ epoch: count, value: z.number() }))
      .meta({ description: "Value of the first objective after each epoch." }),
    values: z.array(z.number()).optional().meta({ description: "Values of the objectives at its end." }),
    constraints: z.array(z.number()).optional().meta({ description: "At most 0 where a constraint is kept." }),
    reason: z.string().optional().meta({ description: "Reason of a failure or a stop." }),
    seconds: z.number().optional().meta({ description: "Worker-seconds of its training." }),
    dollars: z.number().optional().meta({ description: "Estimated cost of its training." }),
    startedAt: instant,
    endedAt: instant.optional(),
  })
  .meta({ id: "Trial", description: "A run of a study. Numbers begin with 0." });
export interface Trial extends Shape<typeof trial> {}

export const study = z
  .object({
    name: z.string(),
    team: z.string(),
    definition: studyDefinitionSchema,
    status: z.enum(studyStatuses).meta({
      description: "`stopping`: no trial starts any more, and those that train still do.",
    }),
    reason: z.string().optional().meta({ description: "Reason of the study's end." }),
    revision: z.int().min(1),
    parentRunId: z.string().meta({ description: "The run whose children are the trials." }),
    best: z.array(count).meta({ description: "The best trial; with several objectives the Pareto front." }),
    bestRunId: z.string().optional().meta({ description: "The run that registers the best trial." }),
    bestFailure: z.string().optional().meta({ description: "Reason why the best trial could not be registered." }),
    extensions: count.meta({ description: "Number of times that it was extended." }),
    fineTunedFrom: fineTuneSource.optional(),
    warmTrials: count.meta({ description: "Number of earlier trials that its sampler knows." }),
    createdBy: z.string(),
    submitters: z.array(z.string()).optional(),
    startedAt: instant.meta({ description: "Start of its limit of hours: its creation or its last extension." }),
    createdAt: instant,
    updatedAt: instant,
    endedAt: instant.optional(),
  })
  .meta({ id: "Study" });
export interface Study extends Shape<typeof study> {}

export function isActive({ status }: Pick<Study, "status">): boolean {
  return status === "running" || status === "stopping";
}
