import { createHash, type Hash } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { RingmasterError } from "../../core/errors";
import type { ApiEnvironment } from "./context";

/**
 * Refuses a body whose SHA-256 differs from the signed one (`x-amz-content-sha256`). A streamed body fails at its end,
 * so that no route can store it.
 */
export function signedBody(streamed: boolean): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const signed = context.req.header("x-amz-content-sha256");
    const { method } = context.req;
    if (signed === undefined || !/^[0-9a-f]{64}$/.test(signed) || method === "GET" || method === "HEAD") return next();
    if (streamed) verifyAtEnd(context, signed);
    else await verifyNow(context, signed);
    return next();
  };
}

async function verifyNow({ req }: Context<ApiEnvironment>, signed: string): Promise<void> {
  const text = await req.bodyCache.text;
  if (text !== undefined) {
    check(signed, sha256().update(text));
    return;
  }
  const body = await req.raw.arrayBuffer();
  check(signed, sha256().update(new Uint8Array(body)));
  req.raw = new Request(req.raw.url, { method: req.method, headers: req.raw.headers, body });
}

function verifyAtEnd({ req }: Context<ApiEnvironment>, signed: string): void {
  const found = sha256();
  const { body } = req.raw;
  if (!body) {
    check(signed, found);
    return;
  }
  const verified = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        found.update(chunk);
        controller.enqueue(chunk);
      },
      flush: () => check(signed, found),
    }),
  );
  req.raw = new Request(req.raw, { body: verified, duplex: "half" } as RequestInit);
}

function sha256(): Hash {
  return createHash("sha256");
}

function check(signed: string, found: Hash): void {
  const digest = found.digest("hex");
  if (digest === signed) return;
  throw new RingmasterError(`the body's SHA-256 is ${digest}, but it was signed as ${signed}: send it again`, {
    code: "UNAUTHENTICATED",
    httpStatus: 401,
  });
}
