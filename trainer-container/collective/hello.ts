import { createHash, timingSafeEqual } from "node:crypto";

/**
 * The first line on every connection, as JSON. Who dials reads: a `data` connection carries frames from the one dialled to the dialler, so that
 * each side reads the sockets that it opened itself (Node reads straight into given memory only there). A `pulse` connection carries
 * single bytes from the dialler, whose pulse thread shows that its process lives.
 */
export interface Hello {
  readonly kind: "data" | "pulse";
  readonly gangId: string;
  readonly generation: number;
  readonly from: number;
  readonly to: number;
  /** Made by whoever sealed the generation; only readers of the store know it. */
  readonly token: string;
  /** V; all must agree, or the sums would not be the same sums. */
  readonly microshards: number;
}

export const longestHello = 2_048;

export function encodeHello(hello: Hello): string {
  return `${JSON.stringify(hello)}\n`;
}

/** `undefined` where the line is no hello. */
export function parseHello(line: string): Hello | undefined {
  try {
    const value: Partial<Record<keyof Hello, unknown>> = JSON.parse(line);
    const whole = [value.generation, value.from, value.to, value.microshards].every(Number.isSafeInteger);
    const texts = [value.gangId, value.token].every((text) => typeof text === "string");
    const known = value.kind === "data" || value.kind === "pulse";
    return whole && texts && known ? (value as unknown as Hello) : undefined;
  } catch {
    return undefined;
  }
}

/** Why a hello is refused by the rank `to` of a generation; `undefined` where it is welcome. */
export function whyRefused(
  hello: Hello,
  own: Pick<Hello, "gangId" | "generation" | "token" | "microshards"> & {
    readonly rank: number;
    readonly worldSize: number;
  },
): string | undefined {
  if (hello.gangId !== own.gangId) return `it asks for gang ${hello.gangId}, but this is ${own.gangId}`;
  if (hello.generation !== own.generation) return `it is of generation ${hello.generation}, this of ${own.generation}`;
  if (!sameSecret(hello.token, own.token)) return "its token is not this generation's";
  if (hello.to !== own.rank) return `it looks for rank ${hello.to}, but this is rank ${own.rank}`;
  if (hello.from < 0 || hello.from >= own.worldSize || hello.from === own.rank) return `there is no rank ${hello.from}`;
  if (hello.microshards !== own.microshards) {
    return `it sums ${hello.microshards} microshards, but this run has ${own.microshards}`;
  }
  return undefined;
}

function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
