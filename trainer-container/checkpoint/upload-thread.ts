import { Worker } from "node:worker_threads";
import type { StateUploader, UploadReply, UploadRequest, UploadThreadSettings } from "./upload-protocol";

export class UploadError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = "UploadError";
  }
}

/**
 * Uploads in a thread: gradients block the main one for a whole micro-batch. If it ends, its requests fail, and the
 * next upload starts another.
 */
export function createUploadThread(script: string, settings: UploadThreadSettings): StateUploader {
  let worker: Worker | undefined;
  let nextId = 0;
  const waiting = new Map<number, { resolve(reply: UploadReply): void; reject(error: Error): void }>();

  function start(): Worker {
    const started = new Worker(script, { name: "checkpoint-upload", workerData: settings, env: process.env });
    started.unref();
    started.on("message", (reply: UploadReply) => {
      waiting.get(reply.id)?.resolve(reply);
      waiting.delete(reply.id);
      if (waiting.size === 0) started.unref();
    });
    const ended = (error: Error) => {
      if (worker === started) worker = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on("error", ended);
    started.on("exit", (code) => ended(new UploadError(`the upload thread ended with code ${code}`, "UPLOAD_THREAD")));
    return started;
  }

  return async (state, files, places) => {
    worker ??= start();
    const request: UploadRequest = { id: nextId++, state, files, places };
    const reply = new Promise<UploadReply>((resolve, reject) => waiting.set(request.id, { resolve, reject }));
    worker.ref(); // keeps the process alive until its last upload
    worker.postMessage(request);
    const answer = await reply;
    if ("stored" in answer) return answer.stored;
    throw new UploadError(answer.failure.message, answer.failure.code ?? "UPLOAD");
  };
}
