import type { Webhooks } from "../../core/notifications/ports";
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
