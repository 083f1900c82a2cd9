import { createHmac } from "node:crypto";
import { z } from "zod";
import { isoTime } from "../../core/clock";
import type { Clock } from "../../core/ports";
import type { CheckHooks, HookOutcome } from "../../core/registry/gates/hook";
import { type GuardedPost, guardedPost, HookRefusedError } from "./guarded-post";

const answerSchema = z.object({ passed: z.boolean(), evidence: z.string().max(4_000).default("") });
const maxBytes = 65_536;
const attempts = 3;
/** What a request to the API has time for. */
const budgetMs = 22_000;

export interface HookSettings {
  readonly clock: Clock;
  readonly allowLoopback: boolean;
  /** Waits before try 1, 2, …. */
  readonly pause: (round: number) => Promise<void>;
  readonly resolveName?: GuardedPost["resolveName"];
}

/**
 * Asks checks over HTTP, signed as Standard Webhooks has it: `webhook-id` (the same each time the same is asked), `webhook-timestamp`, `webhook-signature`
 * (`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`). What may pass (no connection, no answer in time, 429, 5xx) is tried three times, while there is time.
 */
export function createCheckHooks({ clock, allowLoopback, pause, resolveName }: HookSettings): CheckHooks {
  return {
    async ask(check, deliveryId, key, request) {
      const body = JSON.stringify(request);
      const timeoutMs = check.timeoutSeconds * 1_000;
      const begun = clock.now();
      let why = "";
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        if (attempt > 0) await pause(attempt);
        if (attempt > 0 && clock.now() - begun + timeoutMs > budgetMs) break;
        const timestamp = String(Math.floor(clock.now() / 1_000));
        const signature = createHmac("sha256", key).update(`${deliveryId}.${timestamp}.${body}`).digest("base64");
        try {
          const { status, body: text } = await guardedPost({
            url: check.url,
            headers: {
              "content-type": "application/json",
              "user-agent": "ringmaster",
              "webhook-id": deliveryId,
              "webhook-timestamp": timestamp,
              "webhook-signature": `v1,${signature}`,
            },
            body,
            timeoutMs,
            maxBytes,
            allowLoopback,
            resolveName,
          });
          if (status === 200) return readAnswer(text, check.name, isoTime(clock));
          why = `it answered with status ${status}${status >= 300 && status < 400 ? ", and redirects are not followed" : ""}`;
          if (status !== 429 && status < 500) break;
        } catch (error) {
          if (!(error instanceof HookRefusedError)) throw error;
          why = error.message;
          if (!error.passing) break;
        }
      }
      return { unanswered: `its hook has not answered: ${why}; \`ringmaster models judge\` asks again` };
    },
  };
}

function readAnswer(text: string, check: string, at: string): HookOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      unanswered: 'its hook has answered with what is no JSON; it must be {"passed": true or false, "evidence": "…"}',
    };
  }
  const parsed = answerSchema.safeParse(value);
  if (!parsed.success) {
    return { unanswered: 'its hook must answer {"passed": true or false, "evidence": "at most 4,000 characters"}' };
  }
  return { answer: { ...parsed.data, by: `hook ${check}`, at } };
}
