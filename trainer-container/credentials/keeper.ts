import { type BackoffTiming, backoffMs } from "../../core/backoff";
import type { Credentials } from "../../core/training/run-credentials";

/** What the SDK's clients ask for. */
export interface Identity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** When the SDK is to ask again: it does so from five minutes before. */
  readonly expiration: Date;
}

export interface KeeperOptions {
  readonly fetch: () => Promise<Credentials>;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  /** Whether asking again is of no use. */
  readonly isFinal: (error: unknown) => boolean;
  readonly onTrouble: (error: unknown) => void;
}

/** The SDK takes credentials for expired so long before they are. */
const sdkMarginMs = 300_000;
/** Nearer to their end than this, credentials are not handed out any more: a request takes its time. */
const lastCallMs = 30_000;
const pauses: BackoffTiming = { firstMs: 500, maxMs: 30_000, minShare: 0.5 };
/** For those who have nothing to go on with. Longer than a region's trouble with one service mostly lasts. */
const patienceMs = 900_000;

interface Held {
  readonly identity: Identity;
  readonly expiresAt: number;
  readonly renewAt: number;
}

/**
 * Keeps a process in credentials that live for 15 minutes. They are renewed in the background from half of their life on, so that their issuer may be
 * away for seven minutes before a request waits for it. A caller without usable credentials waits, and they are requested again with growing pauses.
 *
 * @returns the provider that the SDK's clients take. It rejects where the answer is final, or after 15 minutes of waiting.
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
