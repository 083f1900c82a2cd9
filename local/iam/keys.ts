import { createHmac, timingSafeEqual } from "node:crypto";
import type { PolicyDocument } from "./policy";

export interface Session {
  readonly role: string;
  readonly name: string;
  readonly policy?: PolicyDocument;
  /** The expiry in milliseconds since the epoch. If undefined, the keys are valid until the stack's secret changes. */
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

const temporary = "ASIA";

/**
 * Creates and reads temporary keys. The session token contains the whole session with its HMAC. Nothing is stored, so
 * keys stay valid after the process that issued them has ended.
 */
export class KeyMaker {
  private readonly secret: string;

  constructor(secret: string) {
    this.secret = secret;
  }

  issue(session: Session): TemporaryKeys {
    const body = Buffer.from(JSON.stringify(session)).toString("base64url");
    const mac = this.mac(body);
    return {
      accessKeyId: keyOf(mac),
      secretAccessKey: this.secretOf(body),
      sessionToken: `${body}.${mac.toString("base64url")}`,
    };
  }

  /**
   * Returns the session of keys that this stack issued, with their secret. Returns undefined if token and key do not
   * belong together.
   */
  read(accessKeyId: string, sessionToken: string): IssuedKeys | undefined {
    const [body = "", sentMac = ""] = sessionToken.split(".");
    const mac = this.mac(body);
    const bytes = Buffer.from(sentMac, "base64url");
    if (bytes.length !== mac.length || !timingSafeEqual(bytes, mac) || accessKeyId !== keyOf(mac)) return undefined;
    const session = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as Session;
    return { session, secretAccessKey: this.secretOf(body) };
  }

  private secretOf(body: string): string {
    return this.mac(`secret ${body}`).toString("base64").slice(0, 40);
  }

  private mac(text: string): Buffer {
    return createHmac("sha256", this.secret).update(text).digest();
  }
}

function keyOf(mac: Buffer): string {
  return `${temporary}${mac.toString("hex").slice(0, 16).toUpperCase()}`;
}
