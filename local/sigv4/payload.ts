import type { IncomingMessage } from "node:http";
import type { ChunkVerifier } from "./chunks";

/** A verified signature's statement about the request's body. */
export interface SignedPayload {
  /** The whole body; its digest matched. */
  readonly body?: Buffer;
  /** SHA-256 that the body must have, in lower-case hex; the service that reads it compares. */
  readonly digest?: string;
  /** Verifies a body that is signed chunk by chunk; the service that reads it does so. */
  readonly chunks?: ChunkVerifier;
}

const payloads = new WeakMap<IncomingMessage, SignedPayload>();

export function setSignedPayload(request: IncomingMessage, payload: SignedPayload): void {
  payloads.set(request, payload);
}

export function signedPayloadOf(request: IncomingMessage): SignedPayload {
  return payloads.get(request) ?? {};
}
