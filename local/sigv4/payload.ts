import type { IncomingMessage } from "node:http";
import type { ChunkVerifier } from "./chunks";

/** The statement of a verified signature about the request's body. */
export interface SignedPayload {
  /** The whole body, which matches its digest. */
  readonly body?: Buffer;
  /** The required SHA-256 of the body in lower-case hex. The service that reads the body compares it. */
  readonly digest?: string;
  /** Verifies a body with signed chunks. The service that reads the body calls it. */
  readonly chunks?: ChunkVerifier;
}

/** The statement about a request. With a `WeakMap` as its place, V8 keeps many requests until it collects old objects. */
const statement = Symbol("signedPayload");

type Verified = IncomingMessage & { [statement]?: SignedPayload };

export function setSignedPayload(request: IncomingMessage, payload: SignedPayload): void {
  (request as Verified)[statement] = payload;
}

export function signedPayloadOf(request: IncomingMessage): SignedPayload {
  return (request as Verified)[statement] ?? {};
}
