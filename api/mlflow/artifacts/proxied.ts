import type { Context } from "hono";
import { isoTime } from "../../../core/ports";
import type { ApiEnvironment } from "../../http/context";
import { invalidParameter, MlflowError } from "../errors";
import { text } from "../fields";
import { type MlflowOperation, operation, rawOperation } from "../operation";
import { baseName, listFiles, placeOf, safeFilePath, safePath, writable } from "./places";
import { type Delivery, mediaTypeOf, sendFile } from "./send-file";

const root = "/mlflow-artifacts/artifacts";

/** Operations of `mlflow_artifacts.proto`, which clients use with a location of `mlflow-artifacts:`. */
export function proxiedArtifacts(delivery: Delivery): readonly MlflowOperation[] {
  return [
    // Defined before the wildcard, which would match an empty path too.
    operation(`GET ${root}`, { path: text }, async ({ platform, fields: { path = "" } }) => ({
      files: await listFiles(platform, await placeOf(platform, safePath(path)), ""),
    })),

    rawOperation(`GET ${root}/*`, async (context) => {
      const platform = context.get("platform");
      const place = await placeOf(platform, safePath(pathBehind(context, root)));
      return sendFile(context, platform, place, delivery);
    }),

    rawOperation(`PUT ${root}/*`, async (context) => {
      const { records, artifacts, incoming, clock } = context.get("platform");
      const place = await placeOf({ records }, safeFilePath(pathBehind(context, root)));
      const { owner, path, folder } = writable(place);
      safeFilePath(path);
      await artifacts.checkWritable(owner, path);
      const contentType = mediaTypeOf(baseName(path));
      const content = await incoming.receive(bodyOf(context), contentType);
      checkLength(context.req.header("content-length"), content.bytes);
      await artifacts.put(owner, [{ ...content, path, contentType, updatedAt: isoTime(clock) }], folder);
      return new Response(null, { status: 200 });
    }),

    rawOperation(`DELETE ${root}/*`, async (context) => {
      const platform = context.get("platform");
      const { owner, path } = writable(await placeOf(platform, refuseRoot(safePath(pathBehind(context, root)))));
      await platform.artifacts.remove(owner, path);
      return context.json({});
    }),
  ];
}

function refuseRoot(path: string): string {
  if (path === "")
    throw new MlflowError("ENDPOINT_NOT_FOUND", "The artifact root is not deleted: name a path under it.");
  return path;
}

export function pathBehind(context: Context<ApiEnvironment>, prefix: string): string {
  const { pathname } = new URL(context.req.url);
  return pathname.slice(pathname.indexOf(`${prefix}/`) + prefix.length + 1);
}

async function* bodyOf(context: Context<ApiEnvironment>): AsyncGenerator<Uint8Array> {
  const { body } = context.req.raw;
  if (body) yield* body as unknown as AsyncIterable<Uint8Array>;
}

/** Refuses a body whose length changed: the gateway has treated its bytes as text. */
function checkLength(sent: string | undefined, bytes: number): void {
  if (sent === undefined || Number(sent) === bytes) return;
  throw invalidParameter(
    `the file has ${sent} bytes, but ${bytes} came through the gateway, which takes it for text: set MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE=1 for files to go straight to the store`,
  );
}
