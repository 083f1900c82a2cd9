import { type BackoffTiming, backoffMs } from "../../core/backoff";
import type { Credentials } from "../../core/training/run-credentials";

/** Credentials as the SDK's clients expect them. */
export interface Identity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** The SDK requests new credentials from five minutes before this time. */
  readonly expiration: Date;
}

export interface KeeperOptions {
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
 * Keeps valid credentials that expire after 15 minutes. It renews them in the background from half of their life on, so
 * the issuer may be unavailable for seven minutes before a request waits. A caller without usable credentials waits
 * while they are requested again with growing pauses.
 *
 * @returns the provider for the SDK's clients. It rejects on a final refusal, or after 15 minutes of waiting.
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
