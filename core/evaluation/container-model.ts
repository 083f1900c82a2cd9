import * as z from "zod";
import { conflict } from "../errors";
import { type DocumentKind, parseDocument } from "../object-documents";
import type { ObjectStore } from "../ports";
import { decodeSafetensors } from "../safetensors";
import { contentReference, type Shape, sha256, texts } from "../shapes";
import type { RowPredictor } from "./predict";

const format = "ringmaster/container@1";

const containerModel = z.object({
  format: z.literal(format),
  files: z.array(z.object({ path: z.string(), bytes: z.int().min(0) })).max(100_000),
  dataset: z.object({ name: z.string(), version: z.int(), digest: sha256 }),
  predictions: contentReference.meta({ description: "The outputs of the test split, in row order, as safetensors." }),
  params: texts.meta({ description: "Parameters and tags that the command logged by MLflow's client." }),
});
/** The document of a container's version in place of a topology: the files of its archive, and its predictions. */
export interface ContainerModel extends Shape<typeof containerModel> {}

const containerDocument: DocumentKind<ContainerModel> = {
  name: "the model of a container",
  schema: containerModel,
  maxBytes: 2 ** 26,
};

export const containerTopology = (model: Omit<ContainerModel, "format">): string =>
  JSON.stringify({ format, ...model });

/** Parses the topology of a container's version; `undefined` if it is a model of the platform. */
export function containerOf(topology: string): ContainerModel | undefined {
  if (!topology.startsWith(`{"format":"${format}"`)) return undefined;
  return parseDocument("topology.json", topology, containerDocument);
}

/**
 * Returns a predictor that gives the stored outputs of the test split in row order, whatever its inputs are.
 * @param digest of the dataset version whose test rows are requested @throws CONTAINER_PREDICTIONS if it has others
 */
export async function storedOutputs(
  objects: Pick<ObjectStore, "getContent">,
  { predictions, dataset }: ContainerModel,
  digest: string,
): Promise<RowPredictor & { dispose(): void }> {
  const { tensors } = decodeSafetensors(await objects.getContent(predictions.sha256));
  const outputs = (tensors["outputs"]?.data ?? new Float32Array()) as Float32Array;
  const [rows = 0] = tensors["outputs"]?.shape ?? [];
  let at = 0;
  return {
    predict(_inputs, count) {
      if (digest !== dataset.digest || at + count > rows)
        throw conflict(
          "CONTAINER_PREDICTIONS",
          `the model of a container has predictions for the test split of ${dataset.name}@${dataset.version} only; submit its job with the other dataset`,
          { dataset },
        );
      const width = outputs.length / rows;
      const taken = outputs.slice(at * width, (at + count) * width);
      at += count;
      return taken;
    },
    dispose: () => undefined,
  };
}

/** Returns why the platform cannot use the files of a model; `undefined` if it is one of its own. */
export const containerReason = (name: string, container: boolean | undefined): string | undefined =>
  container === true
    ? `${name} is the model of a container, and only its own code loads it; use a version that the platform's own training made`
    : undefined;
