import { InvalidInputError } from "../../core/errors";
import { isoTime } from "../../core/ports";
import { runNotFound } from "../../core/runs/errors";
import { type ArtifactOwner, folderOf } from "../../core/tracking/artifacts";
import { artifactNotFound } from "../../core/tracking/records/errors";
import type { RunRecords } from "../../core/tracking/run-records";
import { defineRoute, type Route } from "../http/route";
import * as operations from "../operations/artifacts";

export const artifactRoutes: readonly Route[] = [
  defineRoute(operations.listRunArtifacts, async ({ platform: { records, artifacts }, params, query }) => ({
    artifacts: await artifacts.list(await ownerOf(records, params.runId), query.path ?? ""),
  })),

  defineRoute(operations.putRunArtifacts, async ({ platform, params: { runId }, body }) => {
    const { records, artifacts, objects, clock } = platform;
    const run = await records.identify(runId);
    if (!run) throw runNotFound(runId);
    const sizes = await Promise.all(body.artifacts.map(({ sha256 }) => objects.claimContent(sha256)));
    const problems = body.artifacts.flatMap(({ sha256 }, i) =>
      sizes[i] === undefined
        ? [
            {
              path: `artifacts.${i}.sha256`,
              value: sha256,
              rule: "must be the SHA-256 of an uploaded file: POST /uploads returns the upload URL",
            },
          ]
        : [],
    );
    if (problems.length > 0) throw new InvalidInputError("the artifacts cannot be stored", problems);
    const updatedAt = isoTime(clock);
    const named = body.artifacts.map((artifact, i) => ({ ...artifact, bytes: sizes[i] as number, updatedAt }));
    await artifacts.put({ kind: "run", runId }, named, folderOf(run));
    const entries = named.map(({ path, bytes, sha256 }) => ({ path, isDirectory: false, bytes, sha256 }));
    return { artifacts: entries };
  }),

  defineRoute(operations.getRunArtifact, async ({ platform, params: { runId }, query: { path } }) => {
    const { records, artifacts, contentUrls } = platform;
    const artifact = await artifacts.find(await ownerOf(records, runId), path);
    if (!artifact) throw artifactNotFound(runId, path);
    const { sha256, bytes, contentType } = artifact;
    const url = await contentUrls.forDownload(sha256);
    return { path, url, sha256, bytes, contentType };
  }),
];

async function ownerOf(records: Pick<RunRecords, "identify">, runId: string): Promise<ArtifactOwner> {
  if (!(await records.identify(runId))) throw runNotFound(runId);
  return { kind: "run", runId };
}
