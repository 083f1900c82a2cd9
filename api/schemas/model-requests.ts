import * as z from "zod";
import { model, modelVersion } from "../../core/registry/model";
import { reason } from "./common";
import { description, tagKey, tagValue } from "./models";

/** Schemas that requests and responses about models and about their versions share. */
export const answerModel = z.object({ model }).meta({ id: "ModelAnswer" });

export const answerVersion = z.object({ version: modelVersion }).meta({ id: "ModelVersionAnswer" });

export const descriptionRequest = z.strictObject({ description, reason }).meta({ id: "DescriptionRequest" });

export const tagRequest = z.strictObject({ key: tagKey, value: tagValue, reason }).meta({ id: "TagRequest" });

export const tagQuery = z.strictObject({ key: tagKey, reason });

export const reasonQuery = z.strictObject({ reason });

export const reasonRequest = z.strictObject({ reason }).meta({ id: "ReasonRequest" });
