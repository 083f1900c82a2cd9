import type { ColumnSchema } from "../datasets/shapes";
import { decodeFeatureShard, type FeatureView } from "../features/encoding";
import { inputColumns } from "../features/planned-rows";
import { ShardEncoder } from "../features/shard-encoder";
import type { RowSource } from "../features/values";
import type { ModelArtifact } from "./model-artifact";

/** Returns why a model cannot read rows of these columns; empty if it can. */
export function misfits({ inputSchema, label }: ModelArtifact, schema: readonly ColumnSchema[]): readonly string[] {
  const columns = new Map(schema.map((column) => [column.name, column]));
  const reasons: string[] = [];
  for (const { name, type, shape } of inputSchema) {
    const found = columns.get(name);
    const here = found && `${found.type}${found.shape ? ` of shape [${found.shape}]` : ""}`;
    if (found === undefined) reasons.push(`it needs column ${name}, which the dataset does not have`);
    else if (found.type !== type || String(found.shape) !== String(shape)) {
      reasons.push(
        `it needs column ${name} of type ${type}${shape ? ` and shape [${shape}]` : ""}; in the dataset it is ${here}`,
      );
    }
  }
  const answer = schema.find(({ role }) => role === "label");
  if (answer?.name !== label.column) reasons.push(`it predicts ${label.column}; the label is ${answer?.name}`);
  else if ((answer.type === "float") !== (label.kind === "value")) {
    reasons.push(`it predicts a ${label.kind} of ${label.column}; the label is of type ${answer.type}`);
  }
  return reasons;
}

/**
 * Reads raw rows with a model's own transform and classes, as in serving. A class that the model does not know is -1,
 * which it cannot predict.
 *
 * @param chosen 1 for each row that is read, of all rows in order
 */
export async function* modelRows(
  artifact: Pick<ModelArtifact, "transform" | "label">,
  schema: readonly ColumnSchema[],
  source: RowSource,
  chosen: Uint8Array,
): AsyncGenerator<FeatureView> {
  const { transform, label } = artifact;
  const rows = chosen.reduce((sum, one) => sum + one, 0);
  const encoder = new ShardEncoder({ transform, label, slices: [] }, schema, { rows, withSlices: false });
  const needed = new Set([...inputColumns(transform), label.column]);
  for await (const batch of source.read(schema.filter(({ name }) => needed.has(name)))) {
    const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
    const some = all.filter((row) => chosen[batch.firstRow + row] === 1);
    for (const shard of encoder.add(batch, some)) yield decodeFeatureShard(shard.bytes, artifact);
  }
}
