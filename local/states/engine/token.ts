import { randomUUID } from "node:crypto";
import { ServiceError } from "../errors";

export interface TokenParts {
  readonly machine: string;
  readonly name: string;
  readonly thread: string;
}

export function makeToken({ machine, name, thread }: TokenParts): string {
  return Buffer.from(JSON.stringify([1, machine, name, thread, randomUUID()])).toString("base64");
}

/** Parses a token. Throws InvalidToken for a text that this service cannot have issued. */
export function readToken(token: string): TokenParts {
  try {
    const [version, machine, name, thread] = JSON.parse(Buffer.from(token, "base64").toString()) as readonly unknown[];
    if (version === 1 && typeof machine === "string" && typeof name === "string" && typeof thread === "string") {
      return { machine, name, thread };
    }
  } catch (cause) {
    throw new ServiceError("InvalidToken", "Invalid Token: 'Invalid token'", { cause });
  }
  throw new ServiceError("InvalidToken", "Invalid Token: 'Invalid token'");
}
