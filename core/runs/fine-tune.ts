import * as z from "zod";
import type { DocumentKind } from "../object-documents";
import { type ContentReference, contentReference, count, type DeepReadonly, type Shape, sha256 } from "../shapes";

export const fineTuneSchema = z.strictObject({
  /** A version (`models:/NAME@ALIAS`, `models:/NAME/3`), a completed run (`run-…`), or its checkpoint (`run-…@EPOCH`). */
  from: z
    .string()
    .max(1_000)
    .regex(
      /^(models:\/.+|[^/@\s]+(@[1-9]\d*)?)$/,
      "must be models:/NAME@ALIAS, models:/NAME/VERSION, RUN, or RUN@EPOCH for a run's checkpoint",
    ),
  /**
   * `strict`: every layer must have the source's name and shapes. `prefix`: the layers from the first one to the last
   * one before a difference begin with the source's weights, the rest with random ones.
   */
  match: z.enum(["strict", "prefix"]).default("strict"),
});
export type FineTune = DeepReadonly<z.output<typeof fineTuneSchema>>;

/** Content of `FineTuneSource.parts`: the safetensors objects that hold the weights. */
export const fineTuneParts: DocumentKind<readonly ContentReference[]> = {
  name: "a list of the parts of weights",
  schema: z.array(contentReference),
  maxBytes: 2 ** 26,
};

/** The weights with which a run begins, as they were when it was submitted. */
export const fineTuneSource = z
  .object({
    model: z.string().optional(),
    version: z.int().min(1).optional(),
    runId: z.string().optional().meta({ description: "The run that trained them." }),
    epoch: count.optional().meta({ description: "The checkpoint's epoch; absent: the weights of the run's result." }),
    weightsSha256: sha256,
    parts: contentReference.meta({ description: "JSON list of the safetensors objects that hold them." }),
  })
  .meta({ id: "FineTuneSource", description: "The weights with which a fine-tuned run begins." });
export interface FineTuneSource extends Shape<typeof fineTuneSource> {}

export const maxReportedLayers = 1_000;

const layerStart = z.object({
  layer: z.string(),
  size: count.meta({ description: "Number of its weights." }),
  initialised: z.string().optional().meta({ description: "Source of its initial weights; absent: the run's source." }),
});
export interface LayerStart extends Shape<typeof layerStart> {}

const layerTotals = z.object({ layers: count, weights: count });

export const fineTuneOutcome = z.object({
  layers: z.array(layerStart).max(maxReportedLayers).meta({ description: "In the model's order." }),
  loaded: layerTotals.meta({ description: "Totals of all layers." }),
  initialised: layerTotals,
});
export interface FineTuneOutcome extends Shape<typeof fineTuneOutcome> {}

export function sourceText({ model, version, runId, epoch }: FineTuneSource): string {
  if (model !== undefined) return `${model}@${version}`;
  return epoch === undefined ? `${runId}` : `${runId}, checkpoint after epoch ${epoch}`;
}

export function fineTuneText({ loaded, initialised }: FineTuneOutcome): string {
  const layers = (count: number) => `${count} ${count === 1 ? "layer" : "layers"}`;
  const weights = `${loaded.weights} of ${loaded.weights + initialised.weights} weights`;
  return `${layers(loaded.layers)} loaded, ${layers(initialised.layers)} initialised (${weights} loaded)`;
}
