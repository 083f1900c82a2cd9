import { openAsBlob } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiClient } from "../client/api-client";
import type { Answer } from "../client/operations";
import { createPause } from "../core/backoff";
import { sha256 } from "../core/digest";
import { RingmasterError } from "../core/errors";
import type { UploadPort } from "../core/ports";

type UploadTarget = Answer<"createUploads">["missing"][number];

const attempts = 4;
const pause = createPause({ firstMs: 100, maxMs: 1_600, minShare: 0.5 }, sleep, Math.random);

/** Sends content directly to the bucket, with URLs that the API signs. Existing content is not sent. */
export function createUploads(client: ApiClient): UploadPort {
  const targets = new Map<string, UploadTarget>();
  return {
    async missing(references) {
      const missing = await client.uploads(references.map(({ sha256, bytes }) => ({ sha256, bytes })));
      for (const target of missing) targets.set(target.sha256, target);
      return missing.map(({ sha256 }) => sha256);
    },
    async put({ sha256, bytes }, source) {
      const body = "path" in source ? await openAsBlob(source.path) : new Blob([Uint8Array.from(source.bytes)]);
      for (let attempt = 1; ; attempt += 1) {
        // A URL is valid for minutes; a slow connection may need a new one.
        const target =
          attempt === 1
            ? targets.get(sha256)
            : (await client.uploads([{ sha256, bytes }])).find((one) => one.sha256 === sha256);
        if (!target) return;
        const failure = await send(target, body);
        if (failure === undefined) return;
        if (attempt === attempts) throw failure;
        await pause(attempt);
      }
    },
  };
}

/** Sends content unless it exists. Returns its reference. */
export async function uploadBytes(uploads: UploadPort, bytes: Uint8Array) {
  const reference = { sha256: sha256(bytes), bytes: bytes.length };
  if ((await uploads.missing([reference])).length > 0) await uploads.put(reference, { bytes });
  return reference;
}

async function send(target: UploadTarget, body: Blob): Promise<Error | undefined> {
  try {
    const response = await fetch(target.url, { method: "PUT", headers: { ...target.headers }, body });
    const answer = await response.text();
    if (response.ok) return undefined;
    const message = /<Message>([^<]*)<\/Message>/.exec(answer)?.[1] ?? answer.slice(0, 200);
    return new RingmasterError(`the store refused content ${target.sha256}: ${response.status} ${message}`, {
      code: "UPLOAD_FAILED",
      httpStatus: 502,
      retryable: true,
    });
  } catch (cause) {
    return new RingmasterError(`content ${target.sha256} could not be uploaded: ${cause}`, {
      code: "UPLOAD_FAILED",
      httpStatus: 502,
      retryable: true,
      cause,
    });
  }
}
