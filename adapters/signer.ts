import { createHmac } from "node:crypto";
import { sha256 } from "../core/digest";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SignableRequest {
  readonly host: string;
  /** The value of `X-Amz-Target`. The query protocol has none. */
  readonly target?: string;
  /** The content type. The default is that of DynamoDB's protocol. */
  readonly contentType?: string;
  readonly body: Buffer;
}

export const contentType = "application/x-amz-json-1.0";

/**
 * Signs such requests with Signature Version 4 (AWS, "Create a signed AWS API request"). The key derived from secret,
 * day and region is cached.
 * @returns the signed headers of the request
 */
export class Signer {
  private kept: { readonly of: string; readonly key: Buffer } | undefined;

  constructor(private readonly service: string) {}

  sign(request: SignableRequest, credentials: Credentials, region: string, now: Date): Record<string, string> {
    const { host, target, body, contentType: type = contentType } = request;
    const time = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
    const scope = `${time.slice(0, 8)}/${region}/${this.service}/aws4_request`;
    const { sessionToken } = credentials;
    const token = sessionToken === undefined ? "" : `x-amz-security-token:${sessionToken}\n`;
    const operation = target === undefined ? "" : `x-amz-target:${target}\n`;
    const names = `content-type;host;x-amz-date${token && ";x-amz-security-token"}${operation && ";x-amz-target"}`;
    const headers = `content-type:${type}\nhost:${host}\nx-amz-date:${time}\n${token}${operation}`;
    const digest = sha256(`POST\n/\n\n${headers}\n${names}\n${sha256(body)}`);
    const signature = createHmac("sha256", this.keyOf(credentials.secretAccessKey, scope))
      .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`)
      .digest("hex");
    return {
      host,
      "content-type": type,
      "content-length": String(body.length),
      "x-amz-date": time,
      ...(target === undefined ? {} : { "x-amz-target": target }),
      ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
      authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    };
  }

  private keyOf(secret: string, scope: string): Buffer {
    const of = `${secret} ${scope}`;
    if (this.kept?.of !== of) {
      const key = scope
        .split("/")
        .reduce<string | Buffer>((key, part) => createHmac("sha256", key).update(part).digest(), `AWS4${secret}`);
      this.kept = { of, key: key as Buffer };
    }
    return this.kept.key;
  }
}
