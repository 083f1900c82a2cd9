/** A run's credentials: requested, renewed in time, and given to a thread's clients. */
// Not the index, which loads the schemas of all configuration: each thread of the trainer opens a session.

import { setTimeout as sleep } from "node:timers/promises";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { type BackoffTiming, backoffMs } from "../../core/backoff";
import { RingmasterError } from "../../core/errors";
import type { Credentials } from "../../core/training/run-credentials";
import { readRunSession } from "../../platform/config/run-session";

interface Identity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** The SDK requests new credentials from five minutes before this time. */
  readonly expiration: Date;
}

interface KeeperOptions {
  readonly fetch: () => Promise<Credentials>;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  /** Whether another request is useless. */
  readonly isFinal: (error: unknown) => boolean;
  readonly onTrouble: (error: unknown) => void;
}

/** The SDK treats credentials as expired this long before their end. */
const sdkMarginMs = 300_000;
/** Credentials this close to their end are not returned, because a request takes time. */
const lastCallMs = 30_000;
const pauses: BackoffTiming = { firstMs: 500, maxMs: 30_000, minShare: 0.5 };
/** Maximum wait of a caller without usable credentials. Longer than most regional failures of one service. */
const patienceMs = 900_000;

interface Held {
  readonly identity: Identity;
  readonly expiresAt: number;
  readonly renewAt: number;
}

/**
 * Renews credentials of 15 minutes from half of their life on, so the issuer may be away for seven minutes.
 * @returns the SDK's provider. It rejects on a final refusal, or after 15 minutes of waiting.
 */
export function keepCredentials(options: KeeperOptions): () => Promise<Identity> {
  const { now, fetch, isFinal, onTrouble } = options;
  let held: Held | undefined;
  let renewal: Promise<void> | undefined;

  function renew(): Promise<void> {
    renewal ??= fetchUntil(now() + patienceMs)
      .then((credentials) => {
        held = heldOf(credentials, now());
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  async function fetchUntil(deadline: number): Promise<Credentials> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await fetch();
      } catch (error) {
        if (isFinal(error) || now() >= deadline) throw error;
        onTrouble(error);
        await options.sleep(backoffMs(attempt, pauses, options.random));
      }
    }
  }

  return async () => {
    const usable = held !== undefined && now() < held.expiresAt - lastCallMs;
    if (!usable) await renew();
    else if (now() >= (held as Held).renewAt) renew().catch(onTrouble);
    return (held as Held).identity;
  };
}

function heldOf({ accessKeyId, secretAccessKey, sessionToken, expiresAt }: Credentials, now: number): Held {
  const end = Date.parse(expiresAt);
  const renewAt = now + (end - now) / 2;
  const expiration = new Date(Math.min(end, renewAt + sdkMarginMs));
  return { identity: { accessKeyId, secretAccessKey, sessionToken, expiration }, expiresAt: end, renewAt };
}

/** A final refusal: the run has ended, or the key belongs to another run. */
class CredentialsRefusedError extends RingmasterError {
  constructor(runId: string, reason: string) {
    super(`run ${runId} gets no credentials: ${reason}`, { code: "CREDENTIALS_REFUSED", httpStatus: 403 });
  }
}

const final: readonly (string | undefined)[] = ["RUN_KEY_REFUSED", "RUN_ENDED", "RUN_NOT_FOUND", "INVALID_INPUT"];
/** Longer than a cold start takes. */
const coldStartMs = 15_000;

/** @throws CredentialsRefusedError if the refusal is final */
async function fetchRunCredentials(
  client: LambdaClient,
  functionName: string,
  run: { readonly runId: string; readonly runKey: string; readonly purpose: "training" | "evaluation" },
): Promise<Credentials> {
  const answer = await client.send(
    new InvokeCommand({ FunctionName: functionName, InvocationType: "RequestResponse", Payload: JSON.stringify(run) }),
    { abortSignal: AbortSignal.timeout(coldStartMs) },
  );
  const payload = JSON.parse(new TextDecoder().decode(answer.Payload)) as Credentials & {
    readonly errorType?: string;
    readonly errorMessage?: string;
  };
  if (answer.FunctionError === undefined) return payload;
  const reason = payload.errorMessage ?? "no reason given";
  if (final.includes(payload.errorType)) throw new CredentialsRefusedError(run.runId, reason);
  throw new Error(`${functionName} failed: ${payload.errorType ?? "Error"}: ${reason}`);
}

/** Settings with which a thread of the trainer creates its clients. */
export interface RunSession {
  /** For the SDK's clients: the run's credentials. Empty: the process's own credentials. */
  readonly client: { readonly credentials?: () => Promise<Identity> };
  readonly runKey: string | undefined;
  /** Tests whether the run gets no credentials any more, because it has ended. False if there is no answer. */
  readonly isRefused: () => Promise<boolean>;
}

/** Opens the run's session. The threads share the job's own credentials, which only permit a request for the run's. */
export function openRunSession(
  environment: Readonly<Record<string, string | undefined>>,
  onTrouble: (message: string, error: unknown) => void,
): RunSession {
  const config = readRunSession(environment);
  if (!config) return { client: {}, runKey: undefined, isRefused: async () => false };
  const { credentialsFunction, ...run } = config;
  const lambda = new LambdaClient({ maxAttempts: 1 });
  const fetch = () => fetchRunCredentials(lambda, credentialsFunction, run);
  const isFinal = (error: unknown) => error instanceof CredentialsRefusedError;
  return {
    client: {
      credentials: keepCredentials({
        fetch,
        now: Date.now,
        sleep,
        random: Math.random,
        isFinal,
        onTrouble: (error) => onTrouble("the run's credentials cannot be renewed yet", error),
      }),
    },
    runKey: run.runKey,
    isRefused: () => fetch().then(() => false, isFinal),
  };
}
