import { z } from "zod";
import { isoTime } from "../../../core/clock";
import { objectKeys, teamPrefix } from "../../../core/platform/object-keys";
import { approveOrReject } from "../../../core/registry/approval";
import { ModelNotFoundError } from "../../../core/registry/errors";
import { readArtifact } from "../../../core/registry/registration";
import { promote, rollBack } from "../../../core/registry/transitions";
import { createRoutes } from "../context";
import { readBody, readVersion } from "../input";

const reason = z.string().max(2_000).default("");

export const modelRoutes = createRoutes();

modelRoutes.get("/models", async (context) => {
  const { registry } = context.get("platform");
  return context.json({ models: await registry.repository.list() });
});

modelRoutes.get("/models/:name", async (context) => {
  const { repository } = context.get("platform").registry;
  const name = context.req.param("name");
  const model = await repository.find(name);
  if (!model) throw new ModelNotFoundError(name);
  const [versions, history] = await Promise.all([repository.listVersions(name), repository.history(name)]);
  return context.json({ model, versions, history });
});

/** What serving should load: version, artifact, digest, schemas. */
modelRoutes.get("/models/:name/production", async (context) => {
  const { registry, objects, config, team } = context.get("platform");
  const version = await registry.production(context.req.param("name"));
  const artifact = await readArtifact(objects, version.artifactKey);
  const uriOf = (key: string): string => `s3://${config.bucket}/${teamPrefix(team)}${key}`;
  return context.json({
    model: version.model,
    version: version.version,
    runId: version.runId,
    artifactUri: uriOf(version.artifactKey),
    weightsUri: uriOf(objectKeys.content(artifact.weights.sha256)),
    sha256: version.weightsSha256,
    inputSchema: artifact.inputSchema,
    outputSchema: artifact.outputSchema,
    metrics: version.metrics,
    artifact,
  });
});

modelRoutes.get("/models/:name/versions/:version", async (context) => {
  const { registry } = context.get("platform");
  return context.json({ version: await registry.version(context.req.param("name"), readVersion(context)) });
});

modelRoutes.post("/models/:name/versions/:version/approvals", async (context) => {
  const body = await readBody(context, z.strictObject({ decision: z.enum(["approved", "rejected"]), reason }));
  const version = await approveOrReject(
    context.get("platform"),
    { model: context.req.param("name"), version: readVersion(context) },
    body.decision,
    { by: context.get("actor"), reason: body.reason },
  );
  return context.json({ version });
});

/** Promotion by hand goes through the same door as a run's: a passed gate and an approval. */
modelRoutes.put("/models/:name/versions/:version/stage", async (context) => {
  const { registry, clock } = context.get("platform");
  const body = await readBody(context, z.strictObject({ stage: z.literal("production"), reason }));
  const name = context.req.param("name");
  const version = readVersion(context);
  await registry.version(name, version);
  const actor = { by: context.get("actor"), reason: body.reason, at: isoTime(clock) };
  const model = await registry.apply(name, [version], promote(version, actor));
  return context.json({ model, version: await registry.version(name, version) });
});

modelRoutes.post("/models/:name/rollback", async (context) => {
  const { registry, clock } = context.get("platform");
  const body = await readBody(context, z.strictObject({ reason }));
  const name = context.req.param("name");
  const actor = { by: context.get("actor"), reason: body.reason, at: isoTime(clock) };
  const model = await registry.apply(name, [], rollBack(actor));
  return context.json({ model, version: await registry.production(name) });
});
