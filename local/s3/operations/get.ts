import type { ServerResponse } from "node:http";
import { type Call, respond } from "../call";
import { isUnchanged, parseRange, type Range } from "../conditions";
import { notImplemented } from "../errors";
import { attachmentOf, checksumHeaders, objectHeaders, responseOverrides } from "../headers";
import { requireKey } from "../keys";
import type { ObjectRecord } from "../record";
import type { OpenObject } from "../store";
import { readObject } from "./read";

export async function headObject(call: Call): Promise<void> {
  const open = call.store.open(call.bucket, requireKey(call.key));
  try {
    const answer = prepare(call, open.record);
    // A checksum may be sent only for bytes that match it. A client that requests it learns of damage here.
    if (wantsChecksum(call)) for await (const _ of readObject(call.store, call.bucket, open, answer.range));
    respond(call, answer.status, answer.headers);
  } finally {
    open.release();
  }
}

export async function getObject(call: Call): Promise<void> {
  const open = call.store.open(call.bucket, requireKey(call.key));
  try {
    const answer = prepare(call, open.record);
    if (answer.status === 304 || open.record.size === 0) respond(call, answer.status, answer.headers);
    else await send(call, open, answer);
  } finally {
    open.release();
  }
}

interface Answer {
  readonly status: 200 | 206 | 304;
  readonly headers: Record<string, string>;
  readonly range: Range;
}

function prepare(call: Call, record: ObjectRecord): Answer {
  const { request, query } = call;
  const headers = objectHeaders(record);
  const whole = { start: 0, end: record.size - 1 };
  if (isUnchanged(request.headers, record)) {
    const { etag, "last-modified": modified } = headers;
    return { status: 304, headers: { etag: etag!, "last-modified": modified! }, range: whole };
  }
  if (query.has("partNumber")) throw notImplemented("partNumber");
  const range = parseRange(request.headers.range, record.size);
  Object.assign(headers, wantsChecksum(call) && !range ? checksumHeaders(record) : {}, responseOverrides(query));
  headers["content-disposition"] = attachmentOf(headers["content-disposition"]);
  const { start, end } = range ?? whole;
  headers["content-length"] = String(end - start + 1);
  if (range && record.size > 0) headers["content-range"] = `bytes ${start}-${end}/${record.size}`;
  return { status: range ? 206 : 200, headers, range: { start, end } };
}

function wantsChecksum({ request }: Call): boolean {
  return String(request.headers["x-amz-checksum-mode"]).toUpperCase() === "ENABLED";
}

/** The bytes that are read and verified before the answer begins. Damage in them is answered with an error status. */
const verifiedAheadBytes = 4 * 1024 ** 2;

/**
 * Sends only verified blocks. Damage found after the answer has begun closes the connection, which the client sees as
 * an error.
 */
async function send(call: Call, open: OpenObject, { status, headers, range }: Answer): Promise<void> {
  const { response } = call;
  const blocks = readObject(call.store, call.bucket, open, range);
  const ahead: Buffer[] = [];
  for (let bytes = 0; bytes < verifiedAheadBytes; ) {
    const { value, done } = await blocks.next();
    if (done) break;
    ahead.push(value);
    bytes += value.length;
  }
  response.writeHead(status, headers);
  for (const block of ahead) response.write(block);
  ahead.length = 0;
  for await (const block of blocks) {
    if (response.writableNeedDrain) await drained(response);
    if (response.destroyed) return; // The client has disconnected.
    response.write(block);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    if (response.destroyed) resolve();
    else response.on("drain", done).on("close", done);
  });
}
