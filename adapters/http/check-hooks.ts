import * as z from "zod";
import { parseJson } from "../../core/json-text";
import { isoTime } from "../../core/ports";
import type { CheckHooks, HookOutcome } from "../../core/registry/gates/external-check";
import { readHookTargets } from "../../platform/config/settings";
import { pauseBeforeRound } from "../dynamodb/client";
import { sharedPort } from "../port";
import { problemOfUrl } from "./guarded-post";
import { type SignedPostSettings, signedPost } from "./signed-post";

const answerSchema = z.object({ passed: z.boolean(), evidence: z.string().max(4_000).default("") });
const tries = 3;
/** The time limit of a request to the API. */
const budgetMs = 22_000;

export function createCheckHooks(settings: SignedPostSettings): CheckHooks {
  return {
    problemOf: (url) => problemOfUrl(settings, url, false),

    async call(check, id, key, request) {
      const outcome = await signedPost(settings, {
        ...{ url: check.url, id, key, body: JSON.stringify(request), tries, budgetMs },
        timeoutMs: check.timeoutSeconds * 1_000,
        accepts: (status) => status === 200,
      });
      if (outcome.taken) return readAnswer(outcome.body, check.name, isoTime(settings.clock));
      return { unanswered: `its hook has not answered: ${outcome.why}; \`ringmaster models judge\` asks again` };
    },
  };
}

function readAnswer(text: string, check: string, at: string): HookOutcome {
  let value: unknown;
  try {
    value = parseJson(text);
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

export const checkHooks = sharedPort({
  make: (_uses, { clock, environment }) =>
    createCheckHooks({ clock, pause: pauseBeforeRound, targets: readHookTargets(environment) }),
});
