/** The watcher's client: `fetch`, or a stand-in. */
export type Fetch = (
  url: string,
  init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<{ readonly status: number; text(): Promise<string> }>;

export interface SpotWatcherOptions {
  readonly endpoint: string;
  readonly fetch: Fetch;
  readonly onNotice: (notice: SpotNotice) => void;
  readonly intervalMs: number;
}

/** EC2's `spot/instance-action`, at most two minutes before the instance is reclaimed. */
export interface SpotNotice {
  readonly action: "terminate" | "stop" | "hibernate" | (string & {});
  /** ISO 8601. */
  readonly time: string;
}

const tokenSeconds = 21_600;
const answerMs = 1_000;
/** This number of failures at the start means that there is no metadata service. */
const patience = 3;

/**
 * Polls the instance metadata service (IMDSv2: a session token first) for a spot interruption notice. Without such a service,
 * it stops silently.
 *
 * @returns `stop` ends it; `looked` settles after the first look, whether there is a notice or not
 */
export function watchSpot({ endpoint, fetch, onNotice, intervalMs }: SpotWatcherOptions): {
  readonly stop: () => void;
  readonly looked: Promise<void>;
} {
  let token: string | undefined;
  let failures = 0;
  let everAnswered = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const ask = (path: string, method: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${endpoint}/latest/${path}`, { method, headers, signal: AbortSignal.timeout(answerMs) });

  async function look(): Promise<SpotNotice | undefined> {
    if (token === undefined) {
      const answer = await ask("api/token", "PUT", { "x-aws-ec2-metadata-token-ttl-seconds": String(tokenSeconds) });
      if (answer.status !== 200) throw new Error(`the metadata service answered ${answer.status}`);
      token = await answer.text();
    }
    const answer = await ask("meta-data/spot/instance-action", "GET", { "x-aws-ec2-metadata-token": token });
    everAnswered = true;
    if (answer.status === 401) token = undefined; // expired
    return answer.status === 200 ? (JSON.parse(await answer.text()) as SpotNotice) : undefined;
  }

  async function poll(): Promise<void> {
    try {
      const notice = await look();
      failures = 0;
      if (notice !== undefined && !stopped) {
        onNotice(notice);
        return;
      }
    } catch {
      failures += 1;
      if (!everAnswered && failures >= patience) return;
    }
    if (stopped) return;
    timer = setTimeout(() => void poll(), intervalMs);
    timer.unref();
  }

  return {
    looked: poll(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
