import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../core/ports";
import { listAccess, s3Accesses } from "../iam/access/s3";
import type { Caller } from "../iam/caller";
import type { EventSink, Service } from "../service";
import type { ContentRule } from "./call";
import { type Call, type Context, checkSignature, parseAddress, respondError } from "./call";
import { Disk } from "./disk";
import { accessDenied, toS3Error } from "./errors";
import { toBinary } from "./keys";
import { FolderCache } from "./listing";
import { Notifications } from "./notifications";
import { route } from "./route";
import { Store } from "./store";
import { Uploads } from "./uploads";
import { WrittenIndex } from "./written";

export interface S3Options {
  /** Created where it is missing. One process at a time may own it. */
  readonly dataDirectory: string;
  /** Receives "Object Created" and "Object Deleted" of the buckets that ask for them, as EventBridge does; must have them on disk on return. */
  readonly events: EventSink;
  /** Keys that promise the SHA-256 of their content; a write of other content is refused. None unless given. */
  readonly contentDigest?: ContentRule;
  readonly clock?: Clock;
  /** Where the seals of its journals and of its index lie; by default next to them. */
  readonly seals?: string;
}

/**
 * S3's wire protocol over a directory. An answered write is whole and on disk; one that was not answered does not show.
 * Decisions and differences from Amazon's S3: docs/adr/003-s3.md.
 */
export async function createS3({
  dataDirectory,
  events,
  contentDigest = () => undefined,
  clock = Date,
  seals,
}: S3Options): Promise<Service> {
  const disk = new Disk(dataDirectory);
  disk.prepare();
  const written = await WrittenIndex.open(disk.root, seals);
  const store = new Store(disk, written, clock);
  const uploads = new Uploads(store);
  uploads.recover();
  const notifications = new Notifications(disk, written, events, () => clock.now(), seals);
  notifications.recover();
  const context: Context = { store, uploads, folders: new FolderCache(), notifications, contentDigest };
  return {
    signingName: "s3",
    handle: (request, response, caller) => handle(context, request, response, caller),
    async close() {
      await disk.settle();
      await written.close();
      notifications.close();
    },
  };
}

async function handle(
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller | undefined,
): Promise<void> {
  const requestId = randomBytes(8).toString("hex").toUpperCase();
  response.setHeader("x-amz-request-id", requestId);
  response.setHeader("x-amz-id-2", requestId);
  response.setHeader("server", "RingmasterS3");
  let call: Call = { ...context, request, response, requestId, bucket: "", key: "", query: new URLSearchParams() };
  try {
    call = { ...call, ...parseAddress(request) };
    checkSignature(call, context.store.clock.now());
    if (caller) authorize(caller, call);
    if (call.key) await context.store.settled(call.bucket, toBinary(call.key));
    await route(call)(call);
  } catch (error) {
    if (call.key) await context.store.settled(call.bucket, toBinary(call.key)); // the refusal may be for what it changed
    const answer = toS3Error(error, context.store.disk.root);
    // Whoever may not list is not told what is not there.
    const hidden = answer.code === "NoSuchKey" && caller !== undefined && !caller.may(listAccess(call.bucket));
    respondError(call, hidden ? accessDenied("Access Denied") : answer);
  }
}

function authorize(caller: Caller, { request, bucket, key, query }: Call): void {
  const { method = "GET", headers } = request;
  for (const access of s3Accesses({ method, bucket, key, query, headers })) caller.authorize(access);
}
