import { createHmac } from "node:crypto";
import type { Clock } from "../../core/ports";
import type { HookTargets } from "../../platform/config";
import { type GuardedPost, guardedPost, HookRefusedError } from "./guarded-post";

const maxBytes = 65_536;

export interface SignedPostSettings {
  readonly clock: Clock;
  readonly targets: HookTargets;
  /** Waits before attempt 1, 2, …. */
  readonly pause: (round: number) => Promise<void>;
  readonly resolveName?: GuardedPost["resolveName"];
}

export interface SignedPost {
  readonly url: string;
  /** The id of the message, equal for each attempt, so that receivers recognize a repetition. */
  readonly id: string;
  readonly key: Uint8Array;
  readonly body: string;
  readonly timeoutMs: number;
  readonly tries: number;
  /** The time budget. No attempt begins that could end later than this after the first attempt began. */
  readonly budgetMs: number;
  readonly accepts: (status: number) => boolean;
}

export type PostOutcome =
  | { readonly taken: true; readonly status: number; readonly body: string }
  | { readonly taken: false; readonly why: string; readonly retryable: boolean };

/**
 * Posts JSON with a signature by Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature` (`v1,` and
 * the base64 HMAC-SHA256 of `id.timestamp.body`). Temporary failures (no connection, no answer in time, 429, 5xx) are
 * retried within the time budget.
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
