import * as z from "zod";
import { nextToken } from "../../core/shapes";
import { study, trial } from "../../core/tuning/shapes";
import { studyDefinitionOf } from "../../core/tuning/study";
import { jobInput } from "./runs";

export const studyDefinition = studyDefinitionOf(jobInput).meta({
  id: "StudyDefinition",
  description: "A search for the best settings of a job: space, objectives, sampler, scheduler and limits.",
});

export const studyPage = z.object({ items: z.array(study), nextToken }).meta({ id: "StudyPage" });

export const studyState = z
  .object({ study, trials: z.array(trial) })
  .meta({ id: "StudyState", description: "A study with all of its trials." });
