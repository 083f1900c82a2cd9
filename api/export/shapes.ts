import * as z from "zod";
import { exportFormats } from "../../core/evaluation/model-artifact";
import { count, type Shape, sha256 } from "../../core/shapes";

export const exportManifest = z
  .object({
    format: z.enum(exportFormats),
    revision: z.int().meta({ description: "Revision of the exporter." }),
    model: z.string(),
    runId: z.string(),
    weightsSha256: sha256,
    files: z.array(
      z
        .object({
          path: z.string(),
          sha256,
          bytes: count,
          contentType: z.string(),
          difference: z.number().optional().meta({
            description:
              "Largest difference from the platform's own predictions for the check's rows; absent for a file that is not run.",
          }),
        })
        .meta({ id: "ExportedFile" }),
    ),
    check: z.object({ rows: count, tolerance: z.number() }),
  })
  .meta({
    id: "Export",
    description: "The files of one format, all in the content store.",
  });
export interface ExportManifest extends Shape<typeof exportManifest> {}
export type ExportManifestFile = ExportManifest["files"][number];
