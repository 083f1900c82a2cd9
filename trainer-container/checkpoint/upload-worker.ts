import { parentPort, workerData } from "node:worker_threads";
import { S3Client } from "@aws-sdk/client-s3";
import { createObjectStore } from "../../adapters/s3/object-store";
import { openRunSession } from "../credentials/run-session";
import { storeState } from "./state-files";
import { readFrozen, type UploadReply, type UploadRequest, type UploadThreadSettings } from "./upload-protocol";

/** The thread that digests and sends checkpoints while gradients block the main thread. */
const { bucket, prefix } = workerData as UploadThreadSettings;
// The main thread renews its own credentials at the same times, and reports failures.
const session = openRunSession(process.env, () => undefined);
const store = createObjectStore(new S3Client({ maxAttempts: 6, ...session.client }), bucket, prefix, {
  deniedIsMissing: true,
});

parentPort?.on("message", ({ id, state, files, places }: UploadRequest) => {
  const answer = (reply: UploadReply) => parentPort?.postMessage(reply);
  storeState(store, files, readFrozen(state), places).then(
    (stored) => answer({ id, stored }),
    (error: unknown) => {
      const { message, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
      answer({ id, failure: { message, ...(typeof code === "string" ? { code } : {}) } });
    },
  );
});
