import * as z from "zod";
import { study, trial } from "../../core/tuning/shapes";
import { maxTrials, studyDefinitionOf } from "../../core/tuning/study";
import { examples } from "../examples";
import { operationsFor, pageOf, response } from "../operation";
import { nameText } from "../schemas/common";
import { jobInput } from "../schemas/runs";

const studyDefinition = studyDefinitionOf(jobInput).meta({
  id: "StudyDefinition",
  description: "A search for the best settings of a job: space, objectives, sampler, scheduler and limits.",
});

const studyState = z
  .object({ study, trials: z.array(trial) })
  .meta({ id: "StudyState", description: "A study with all of its trials." });

const operation = operationsFor("Studies");
const params = z.strictObject({ study: nameText });
const answerStudy = z.object({ study }).meta({ id: "StudyAnswer" });
const creation = z.object({ created: z.boolean(), study }).meta({ id: "StudyCreation" });
const changed = response("The study.", answerStudy);

export const createStudy = operation("createStudy", "POST /hpo/studies", {
  summary: "Create a study and start its first trials",
  description:
    "Nothing is created if the definition has a problem. Idempotent for the same definition, whatever its limits are.",
  body: studyDefinition,
  bodyExample: examples.studyDefinition,
  idempotent: true,
  responses: {
    200: response("The study exists.", creation),
    201: response("The study.", creation),
  },
  errors: [
    "STUDY_EXISTS",
    "STUDY_NOT_FOUND",
    "EXPERIMENT_DELETED",
    "DATASET_NOT_FOUND",
    "DATASET_VERSION_NOT_FOUND",
    "DATASET_VERSION_DEPRECATED",
    "DATASET_WITHOUT_ACTIVE_VERSION",
  ],
});

export const listStudies = operation("listStudies", "GET /hpo/studies", {
  summary: "List studies, newest first",
  ...pageOf({ id: "StudyPage" }, study),
});

export const getStudy = operation("getStudy", "GET /hpo/studies/{study}", {
  summary: "Get a study with all of its trials",
  params,
  responses: {
    200: response("The study.", studyState),
  },
  errors: ["STUDY_NOT_FOUND"],
});

export const getBestTrials = operation("getBestTrials", "GET /hpo/studies/{study}/best", {
  summary: "Get the best trial so far; with several objectives, the Pareto front",
  params,
  responses: {
    200: response("The trials, by number.", z.object({ best: z.array(trial) }).meta({ id: "BestTrials" })),
  },
  errors: ["STUDY_NOT_FOUND", "STUDY_WITHOUT_RESULT"],
});

export const stopStudy = operation("stopStudy", "POST /hpo/studies/{study}/stop", {
  summary: "Stop a study",
  description:
    "No trial starts any more. Those that train end with their segment, or at once with `cancel`. Idempotent.",
  params,
  body: z
    .strictObject({ cancel: z.boolean().default(false).meta({ description: "Cancel the trials that train." }) })
    .meta({ id: "StudyStop" }),
  bodyExample: { cancel: false },
  idempotent: true,
  responses: { 200: changed },
  errors: ["STUDY_NOT_FOUND", "STUDY_BUSY", "RUN_NOT_FOUND", "RUN_ENDED"],
});

export const extendStudy = operation("extendStudy", "POST /hpo/studies/{study}/extend", {
  summary: "Continue a study with other limits, or resume some of its trials",
  description: "Also one that has ended. A limit that is left out stays.",
  params,
  body: z
    .strictObject({
      trials: z.int().min(1).max(maxTrials).optional(),
      hours: z.number().positive().optional().meta({ description: "From the extension on." }),
      dollars: z.number().positive().optional(),
      noImprovement: z.int().min(1).max(maxTrials).optional(),
      resume: z
        .array(z.strictObject({ trial: z.int().min(0), until: z.int().min(1) }))
        .max(90)
        .optional()
        .meta({ description: "Trials to resume up to an epoch, also stopped ones." }),
    })
    .meta({ id: "StudyExtension" }),
  bodyExample: { trials: 48, resume: [{ trial: 3, until: 9 }] },
  responses: { 200: changed },
  errors: ["STUDY_NOT_FOUND", "STUDY_BUSY"],
});
