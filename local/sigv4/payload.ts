import type { IncomingMessage } from "node:http";
import type { ChunkVerifier } from "./chunks";

export interface SignedPayload {
  readonly body?: Buffer;
  /** The required SHA-256 of the body in lower-case hex. The service that reads the body compares it. */
  readonly digest?: string;
  readonly chunks?: ChunkVerifier;
}

/**
 * The property of a request that holds its signed payload. With a `WeakMap` instead, V8 would keep many requests until it
 * collects old objects.
 */
const signedPayload = Symbol("signedPayload");

type Verified = IncomingMessage & { [signedPayload]?: SignedPayload };

export function setSignedPayload(request: IncomingMessage, payload: SignedPayload): void {
  (request as Verified)[signedPayload] = payload;
}

export function signedPayloadOf(request: IncomingMessage): SignedPayload {
  return (request as Verified)[signedPayload] ?? {};
}
