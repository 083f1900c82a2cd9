import * as z from "zod";
import { count, sha256 } from "../../core/shapes";
import { artifactEntry, artifactPathRule } from "../../core/tracking/shapes";
import { examples } from "../examples";
import { operationsFor, response } from "../operation";
import { runIdText } from "../schemas/runs";

const operation = operationsFor("Runs");
const params = z.strictObject({ runId: runIdText });
const path = z.string().superRefine((given, context) => {
  const rule = artifactPathRule(given);
  if (rule !== undefined) context.addIssue({ code: "custom", message: rule });
});
const pathDescription = "Relative, of normal form, at most 1,000 bytes: `model/weights.safetensors`.";

export const listRunArtifacts = operation("listRunArtifacts", "GET /runs/{runId}/artifacts", {
  summary: "List the files and directories directly under a path of a run's artifacts",
  params,
  query: z.strictObject({
    path: path.optional().meta({ description: "A directory; the top where it is left out." }),
  }),
  responses: {
    200: response(
      "Sorted by name; empty if there is nothing.",
      z.object({ artifacts: z.array(artifactEntry) }).meta({ id: "ArtifactList" }),
    ),
  },
  errors: ["RUN_NOT_FOUND"],
});

export const putRunArtifacts = operation("putRunArtifacts", "POST /runs/{runId}/artifacts", {
  summary: "Name uploaded contents as a run's artifacts",
  description:
    "Upload them by `POST /uploads` first: content is kept once a team. The last put under a path stands. Of a training run the directories `training/` and `exports/` are the platform's. The files of a version that was evaluated cannot be changed.",
  params,
  body: z
    .strictObject({
      artifacts: z
        .array(
          z.strictObject({
            path: path.meta({ description: pathDescription }),
            sha256,
            contentType: z.string().max(255).optional(),
          }),
        )
        .min(1)
        .max(100),
    })
    .meta({ id: "ArtifactsRequest" }),
  bodyExample: { artifacts: [{ path: "plots/loss.png", sha256: examples.content.sha256 }] },
  idempotent: true,
  responses: {
    200: response(
      "The files as stored.",
      z.object({ artifacts: z.array(artifactEntry) }).meta({ id: "ArtifactsAnswer" }),
    ),
  },
  errors: ["RUN_NOT_FOUND", "RUN_DELETED", "ARTIFACT_RESERVED", "ARTIFACT_FROZEN", "ARTIFACTS_BUSY"],
});

export const getRunArtifact = operation("getRunArtifact", "GET /runs/{runId}/artifacts/content", {
  summary: "Get a URL to download an artifact",
  params,
  query: z.strictObject({ path: path.meta({ description: pathDescription }) }),
  responses: {
    200: response(
      "Lives 15 minutes.",
      z
        .object({ path: z.string(), url: z.string(), sha256, bytes: count, contentType: z.string().optional() })
        .meta({ id: "ArtifactUrl" }),
    ),
  },
  errors: ["RUN_NOT_FOUND", "ARTIFACT_NOT_FOUND"],
});
