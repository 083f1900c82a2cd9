import { z } from "zod";
import { isoTime } from "../../../core/clock";
import { DatasetNotFoundError } from "../../../core/datasets/errors";
import type { DatasetDraft } from "../../../core/datasets/identity";
import { getDatasetVersion, resolveDataset } from "../../../core/datasets/reference";
import { registerDataset } from "../../../core/datasets/register";
import { InvalidInputError } from "../../../core/errors";
import { createRoutes } from "../context";
import { pageQuery, readBody, readQuery, readVersion } from "../input";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be a lower-case hex SHA-256");
const count = z.int().min(0);
const index = z.strictObject({ sha256, bytes: count, rows: count });
const fraction = z.number().min(0).max(1);

/** The shape only; `registerDataset` checks what it means. */
const draftBody = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  digest: sha256,
  schema: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(255),
        type: z.enum(["int", "float", "string", "bool", "timestamp", "tensor"]),
        role: z.enum(["feature", "label", "slice", "ignore"]),
        shape: z.array(z.int().min(1)).max(8).optional(),
        nullable: z.boolean().optional(),
        values: z.array(z.union([z.string(), z.number()])).optional(),
        minimum: z.number().optional(),
        maximum: z.number().optional(),
      }),
    )
    .min(1)
    .max(10_000),
  schemaHash: sha256,
  rowCount: count,
  bytes: count,
  shards: z.array(index).max(10_000),
  split: z.strictObject({
    seed: count,
    fractions: z.strictObject({ train: fraction, validation: fraction, test: fraction }),
    stratifyBy: z.string().optional(),
    indexes: z.strictObject({ train: index, validation: index, test: index }),
  }),
});

const registerBody = z.strictObject({ draft: draftBody, allowSchemaChange: z.boolean().default(false) });

export const datasetRoutes = createRoutes();

datasetRoutes.post("/datasets/:name/versions", async (context) => {
  const { draft, allowSchemaChange } = await readBody(context, registerBody);
  const platform = context.get("platform");
  if (draft.name !== context.req.param("name")) {
    throw new InvalidInputError("the request", [
      { path: "draft.name", value: draft.name, rule: `must be the name in the path: ${context.req.param("name")}` },
    ]);
  }
  const registered = await registerDataset(
    { repository: platform.datasets, objects: platform.objects, clock: platform.clock },
    draft satisfies DatasetDraft,
    { allowSchemaChange },
  );
  return context.json(registered, registered.created ? 201 : 200);
});

datasetRoutes.get("/datasets", async (context) => {
  const { datasets } = context.get("platform");
  return context.json(await datasets.list(readQuery(context, pageQuery)));
});

datasetRoutes.get("/datasets/:name/versions", async (context) => {
  const { datasets } = context.get("platform");
  const name = context.req.param("name");
  if (!(await datasets.findNewest(name))) throw new DatasetNotFoundError(name);
  return context.json(await datasets.listVersions({ name, ...readQuery(context, pageQuery) }));
});

datasetRoutes.get("/datasets/:name", async (context) =>
  context.json({ version: await resolveDataset(context.get("platform").datasets, context.req.param("name")) }),
);

datasetRoutes.get("/datasets/:name/versions/:version", async (context) => {
  const { datasets } = context.get("platform");
  const version = await getDatasetVersion(datasets, context.req.param("name"), readVersion(context));
  return context.json({ version });
});

datasetRoutes.post("/datasets/:name/versions/:version/deprecate", async (context) => {
  const { datasets, clock } = context.get("platform");
  const { reason } = await readBody(context, z.strictObject({ reason: z.string().max(1_000).default("") }));
  const name = context.req.param("name");
  const version = readVersion(context);
  await getDatasetVersion(datasets, name, version);
  await datasets.deprecate(name, version, { at: isoTime(clock), reason });
  return context.json({ version: await getDatasetVersion(datasets, name, version) });
});
