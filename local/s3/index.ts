import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Time } from "../clock";
import { listAccess, s3Accesses } from "../iam/access/s3";
import type { Caller } from "../iam/caller";
import type { EventSink, Service } from "../service";
import type { ContentRule } from "./call";
import { type Call, type Context, parseAddress, respondError } from "./call";
import { Disk } from "./disk";
import { accessDenied, toS3Error } from "./errors";
import { toBinary } from "./keys";
import { FolderCache } from "./listing";
import { Notifications } from "./notifications";
import { route } from "./route";
import { Store } from "./store";
import { Uploads } from "./uploads";

export interface S3Options {
  /** The data directory. It is created if it does not exist. Only one process at a time may use it. */
  readonly dataDirectory: string;
  /**
   * Receives "Object Created" and "Object Deleted" events of buckets with notifications, as EventBridge does. Events
   * must be on disk when it returns.
   */
  readonly events: EventSink;
  /** The digests that keys promise. A write of other content is refused. By default no key promises a digest. */
  readonly contentDigest?: ContentRule;
  readonly clock?: Time;
}

/**
 * Creates S3's wire protocol over a directory. An acknowledged write is complete and on disk. An unacknowledged write
 * is not visible. Decisions and differences from Amazon's S3: docs/adr/003-s3.md.
 */
export async function createS3({
  dataDirectory,
  events,
  contentDigest = () => undefined,
  clock = Date,
}: S3Options): Promise<Service> {
  const disk = new Disk(dataDirectory);
  disk.prepare();
  const store = new Store(disk, clock);
  const uploads = new Uploads(store);
  uploads.recover();
  const notifications = new Notifications(disk, events, () => clock.now());
  notifications.recover();
  const context: Context = { store, uploads, folders: new FolderCache(), notifications, contentDigest };
  return {
    signingName: "s3",
    handle: (request, response, caller) => handle(context, request, response, caller),
    async close() {
      await disk.settle();
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
  let call: Call = {
    ...context,
    request,
    response,
    requestId,
    caller,
    bucket: "",
    key: "",
    query: new URLSearchParams(),
  };
  try {
    call = { ...call, ...parseAddress(request) };
    if (caller) authorize(caller, call);
    if (call.key) await context.store.settled(call.bucket, toBinary(call.key));
    await route(call)(call);
  } catch (error) {
    // The refusal may depend on a change that is not durable yet.
    if (call.key) await context.store.settled(call.bucket, toBinary(call.key));
    const answer = toS3Error(error, context.store.disk.root);
    // A caller without the permission to list must not learn which keys exist.
    const hidden = answer.code === "NoSuchKey" && caller !== undefined && !caller.may(listAccess(call.bucket));
    respondError(call, hidden ? accessDenied("Access Denied") : answer);
  }
}

function authorize(caller: Caller, { request, bucket, key, query }: Call): void {
  const { method = "GET", headers } = request;
  for (const access of s3Accesses({ method, bucket, key, query, headers })) caller.authorize(access);
}
