import * as z from "zod";
import { causeRecord } from "../../core/retraining/cause";
import { ruleDefinitionOf, ruleState } from "../../core/retraining/rule";
import { nextToken } from "../../core/shapes";
import { jobInput } from "./runs";

export const ruleDefinition = ruleDefinitionOf(jobInput).meta({
  id: "RetrainingRuleDefinition",
  description: "When to retrain, and by which job. The job's dataset is without a version.",
});

export const rulePage = z.object({ items: z.array(ruleState), nextToken }).meta({ id: "RetrainingRulePage" });

export const causePage = z.object({ items: z.array(causeRecord), nextToken }).meta({ id: "RetrainingCausePage" });
