import type { Readable } from "node:stream";

/** Milliseconds without a byte after which a connection is given up. */
const maxIdle = (): number => Number(process.env["RINGMASTER_SOURCE_IDLE_MS"] ?? 60_000);

/** Opens a response, and ends it if no data comes for a while. `open` gets the signal that ends the request. */
export async function withIdleLimit<Response>(
  open: (signal: AbortSignal) => Promise<Response>,
  bodyOf: (response: Response) => Readable,
): Promise<{ readonly response: Response; readonly body: () => AsyncIterable<Uint8Array> }> {
  const stop = new AbortController();
  const idleMs = maxIdle();
  let stopBody: ((error: Error) => void) | undefined;
  const onIdle = (): void => {
    const error = new Error(`no data came for ${idleMs / 1_000} s`);
    stop.abort(error);
    stopBody?.(error);
  };
  const timer = setTimeout(onIdle, idleMs).unref(); // does not keep the process running
  async function* watched(): AsyncGenerator<Uint8Array> {
    const body = bodyOf(response);
    stopBody = (error) => body.destroy(error);
    try {
      for await (const chunk of body) {
        timer.refresh();
        yield chunk as Uint8Array;
      }
    } finally {
      clearTimeout(timer);
    }
  }
  const response = await open(stop.signal).catch((error: unknown) => {
    clearTimeout(timer);
    throw stop.signal.aborted ? stop.signal.reason : error;
  });
  return { response, body: watched };
}
