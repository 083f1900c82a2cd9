import type { Category } from "../../core/datasets/profile";
import type { ColumnSchema } from "../../core/datasets/shapes";
import type { InferenceWindow, ModelBaseline } from "../../core/drift/measure-model";
import { unusable } from "./formats/source-files";
import { readRawRows } from "./raw-rows";
import type { DuckDbSession } from "./session";
import { type DataFiles, openSource } from "./source";

/**
 * Opens a file of inferences: the model's columns, its predictions in a column of their own, and the label's column if
 * labels are known. Other columns are ignored, and lacking ones are reported as drift.
 *
 * @throws InvalidInputError if the file cannot be read, or has no rows
 */
export async function openInferenceFile(
  session: DuckDbSession,
  file: DataFiles,
  { manifest, features, label, predictions }: Pick<ModelBaseline, "manifest" | "features" | "label" | "predictions">,
): Promise<InferenceWindow> {
  const { types } = await openSource(session, file, []);
  const prediction: ColumnSchema = { ...predictions.column, nullable: true };
  const isRead = ({ name }: ColumnSchema) => types.has(name) && (features.has(name) || name === label);
  const columns = manifest.schema.filter((column) => isRead(column) && column.name !== prediction.name);
  const read = types.has(prediction.name) ? [...columns, prediction] : columns;
  const { table, reading, name } = await openSource(session, file, read);
  const [counted] = await reading(() => session.rows(`SELECT count(*)::DOUBLE AS all_rows FROM ${table}`));
  const rowCount = Number(counted?.["all_rows"] ?? 0);
  if (rowCount === 0) throw unusable(name, "has no rows; it must have inferences");
  return {
    rowCount,
    async *open() {
      for await (const rows of readRawRows(session, file, read)) {
        yield rows.map((row) => ({
          row,
          prediction: row[prediction.name] as Category | null | undefined,
          label: row[label] as Category | null | undefined,
        }));
      }
    },
  };
}
