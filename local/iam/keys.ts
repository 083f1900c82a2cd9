import { createHmac, timingSafeEqual } from "node:crypto";
import type { PolicyDocument } from "../../platform/permissions";

/** Whom temporary keys stand for. */
export interface Session {
  /** Name of the role. */
  readonly role: string;
  /** Name of the session, as it stands in the caller's ARN. */
  readonly name: string;
  readonly policy?: PolicyDocument;
  /** Milliseconds since the epoch; none: until the stack's secret changes. */
  readonly expiresAt?: number;
}

export interface TemporaryKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

export interface IssuedKeys {
  readonly session: Session;
  readonly secretAccessKey: string;
}

/** As AWS's temporary keys begin. */
const temporary = "ASIA";

/**
 * Makes and reads temporary keys. All that they stand for is in the session token, under a seal: nothing is kept, so that keys outlive the process
 * that gave them out.
 */
export class KeyMaker {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  issue(session: Session): TemporaryKeys {
    const body = Buffer.from(JSON.stringify(session)).toString("base64url");
    const seal = this.#seal(body);
    return {
      accessKeyId: keyOf(seal),
      secretAccessKey: this.#secretOf(body),
      sessionToken: `${body}.${seal.toString("base64url")}`,
    };
  }

  /** The session of keys that this stack issued, with their secret; undefined where token and key are not a pair of its own. */
  read(accessKeyId: string, sessionToken: string): IssuedKeys | undefined {
    const [body = "", sealed = ""] = sessionToken.split(".");
    const seal = this.#seal(body);
    const given = Buffer.from(sealed, "base64url");
    if (given.length !== seal.length || !timingSafeEqual(given, seal) || accessKeyId !== keyOf(seal)) return undefined;
    const session = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as Session;
    return { session, secretAccessKey: this.#secretOf(body) };
  }

  #secretOf(body: string): string {
    return this.#seal(`secret ${body}`).toString("base64").slice(0, 40);
  }

  #seal(text: string): Buffer {
    return createHmac("sha256", this.#secret).update(text).digest();
  }
}

function keyOf(seal: Buffer): string {
  return `${temporary}${seal.toString("hex").slice(0, 16).toUpperCase()}`;
}
