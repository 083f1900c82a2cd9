import { setTimeout as sleep } from "node:timers/promises";
import { createPause } from "../../core/backoff";
import type { Webhooks } from "../../core/notifications/ports";
import { readHookTargets } from "../../platform/config/settings";
import { sharedPort } from "../port";
import { problemOfUrl } from "./guarded-post";
import { type SignedPostSettings, signedPost } from "./signed-post";

const timeoutMs = 10_000;
/** The time for three attempts with their pauses. */
const budgetMs = 40_000;

/** Creates the sender of webhooks. Any 2xx accepts a message. The body of the answer is read and dropped. */
export function createWebhooks(settings: SignedPostSettings): Webhooks {
  return {
    async post(url, key, { id, body }, tries) {
      const accepts = (status: number): boolean => status >= 200 && status < 300;
      const outcome = await signedPost(settings, { url, id, key, body, timeoutMs, tries, budgetMs, accepts });
      if (outcome.taken) return { accepted: true, answer: `status ${outcome.status}` };
      return { accepted: false, answer: outcome.why, retryable: outcome.retryable };
    },

    problemOf: (url) => problemOfUrl(settings, url),
  };
}

/** Before a webhook's second try; the third waits up to twice as long. */
const pauseMs = 500;

export const webhooks = sharedPort({
  make: (_uses, { clock, environment }) =>
    createWebhooks({
      clock,
      pause: createPause({ firstMs: pauseMs, maxMs: 2_000 }, sleep, Math.random),
      targets: readHookTargets(environment),
    }),
});
