import { createHmac } from "node:crypto";
import type { Clock } from "../../core/ports";
import type { HookTargets } from "../../platform/config";
import { type GuardedPost, guardedPost, HookRefusedError } from "./guarded-post";

const maxBytes = 65_536;

export interface SignedPostSettings {
  readonly clock: Clock;
  readonly targets: HookTargets;
  /** Waits before try 1, 2, …. */
  readonly pause: (round: number) => Promise<void>;
  readonly resolveName?: GuardedPost["resolveName"];
}

export interface SignedPost {
  readonly url: string;
  /** The same for every repetition: receivers recognise one by it. */
  readonly id: string;
  readonly key: Uint8Array;
  readonly body: string;
  readonly timeoutMs: number;
  readonly tries: number;
  /** No try begins that could end later than this after the first began. */
  readonly budgetMs: number;
  /** Whether a status is an answer to take. */
  readonly accepts: (status: number) => boolean;
}

export type PostOutcome =
  | { readonly taken: true; readonly status: number; readonly body: string }
  | { readonly taken: false; readonly why: string; readonly retryable: boolean };

/**
 * Posts JSON, signed as Standard Webhooks has it: `webhook-id`, `webhook-timestamp`, `webhook-signature` (`v1,` and the base64 HMAC-SHA256 of
 * `id.timestamp.body`). What may pass (no connection, no answer in time, 429, 5xx) is tried again while there is time.
 */
export async function signedPost(
  { clock, targets, pause, resolveName }: SignedPostSettings,
  { url, id, key, body, timeoutMs, tries, budgetMs, accepts }: SignedPost,
): Promise<PostOutcome> {
  const begun = clock.now();
  let last: PostOutcome = { taken: false, why: "it was not tried", retryable: true };
  for (let round = 0; round < tries; round += 1) {
    if (round > 0) await pause(round);
    if (round > 0 && clock.now() - begun + timeoutMs > budgetMs) break;
    const timestamp = String(Math.floor(clock.now() / 1_000));
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    const headers = {
      "content-type": "application/json",
      "user-agent": "ringmaster",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    };
    try {
      const answer = await guardedPost({ url, headers, body, timeoutMs, maxBytes, targets, resolveName });
      if (accepts(answer.status)) return { taken: true, ...answer };
      const { status } = answer;
      const redirected = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
      last = {
        taken: false,
        why: `it answered with status ${status}${redirected}`,
        retryable: status === 429 || status >= 500,
      };
    } catch (error) {
      if (!(error instanceof HookRefusedError)) throw error;
      last = { taken: false, why: error.message, retryable: error.passing };
    }
    if (!last.retryable) break;
  }
  return last;
}
