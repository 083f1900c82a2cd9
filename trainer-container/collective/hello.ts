import { createHash, timingSafeEqual } from "node:crypto";

/**
 * The first line on every connection, as JSON. The dialling side reads: a `data` connection carries frames from the dialled
 * side to the dialling side, so each side reads the sockets that it opened itself (only there does Node read directly into
 * given memory). A `pulse` connection carries single bytes from the dialling side, whose heartbeat thread shows that its
 * process is alive.
 */
export interface Hello {
  readonly kind: "data" | "pulse";
  readonly gangId: string;
  readonly generation: number;
  readonly from: number;
  readonly to: number;
  /** Drawn by the member that sealed the generation. Only readers of the store know it. */
  readonly token: string;
  /** V. All members must agree, otherwise the sums would differ. */
  readonly microBatches: number;
}

export const maxHelloLength = 2_048;

export function encodeHello(hello: Hello): string {
  return `${JSON.stringify(hello)}\n`;
}

/** Parses a hello; `undefined` if the line is none. */
export function parseHello(line: string): Hello | undefined {
  try {
    const value: Partial<Record<keyof Hello, unknown>> = JSON.parse(line);
    const whole = [value.generation, value.from, value.to, value.microBatches].every(Number.isSafeInteger);
    const texts = [value.gangId, value.token].every((text) => typeof text === "string");
    const known = value.kind === "data" || value.kind === "pulse";
    return whole && texts && known ? (value as unknown as Hello) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the reason why rank `to` of a generation refuses a hello; `undefined` if it accepts. */
export function whyRefused(
  hello: Hello,
  own: Pick<Hello, "gangId" | "generation" | "token" | "microBatches"> & {
    readonly rank: number;
    readonly worldSize: number;
  },
): string | undefined {
  if (hello.gangId !== own.gangId) return `it names gang ${hello.gangId}, but this is ${own.gangId}`;
  if (hello.generation !== own.generation) return `it is of generation ${hello.generation}, this of ${own.generation}`;
  if (!sameSecret(hello.token, own.token)) return "its token is not this generation's";
  if (hello.to !== own.rank) return `it looks for rank ${hello.to}, but this is rank ${own.rank}`;
  if (hello.from < 0 || hello.from >= own.worldSize || hello.from === own.rank) return `there is no rank ${hello.from}`;
  if (hello.microBatches !== own.microBatches) {
    return `it sums ${hello.microBatches} micro-batches, but this run has ${own.microBatches}`;
  }
  return undefined;
}

function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
