import type { S3Client } from "@aws-sdk/client-s3";
import { type Credentials, Signer } from "../signer";

/** The address to which the SDK sends requests for objects of a bucket. */
interface Place {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  /** The path before the key. */
  readonly base: string;
}

interface SentRequest extends Omit<Place, "base"> {
  readonly path: string;
}

interface Answer {
  readonly statusCode: number;
  readonly body: AsyncIterable<Buffer>;
}

/** Reads bytes `[start, start + length)` of an object; `undefined` if the SDK must repeat the request. */
export type LeanGet = (key: string, start: number, length: number) => Promise<Uint8Array | undefined>;

/**
 * Reads objects of a bucket with a third of the SDK's processor time. It uses the SDK's connections, credentials and
 * region, and its own signature. It makes one attempt, and answers only with complete bytes of a successful one. The
 * first request of the SDK shows the address of the bucket.
 */
export function createLeanGet(client: S3Client): LeanGet {
  const signer = new Signer("s3");
  let place: Place | undefined;
  client.middlewareStack.add(
    (next) => (args) => {
      const key = (args.input as { readonly Key?: string }).Key;
      if (key !== undefined) place ??= placeOf(args.request as SentRequest, key);
      return next(args);
    },
    { step: "build", name: "ringmasterLearnsBucket", override: true },
  );

  return async (key, start, length) => {
    if (!place) return undefined;
    const { base, ...to } = place;
    const { config } = client;
    const [credentials, region] = await Promise.all([config.credentials() as Promise<Credentials>, config.region()]);
    const path = `${base}${encodedKey(key)}`;
    const host = to.port === undefined ? to.hostname : `${to.hostname}:${to.port}`;
    const range = `bytes=${start}-${start + length - 1}`;
    const headers = signer.signGet({ host, path, range }, credentials, region, new Date());
    try {
      const sent = { ...to, method: "GET", path, headers, query: {} };
      const { response } = (await config.requestHandler.handle(sent as never)) as unknown as { response: Answer };
      const chunks: Buffer[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return response.statusCode === 206 ? Buffer.concat(chunks) : undefined;
    } catch {
      return undefined;
    }
  };
}

function placeOf({ protocol, hostname, port, path }: SentRequest, key: string): Place | undefined {
  const end = encodedKey(key);
  if (!path.endsWith(`/${end}`)) return undefined;
  const base = path.slice(0, path.length - end.length);
  return { protocol, hostname, base, ...(port === undefined ? {} : { port }) };
}

/** Encodes a key like the signature's canonical path. */
function encodedKey(key: string): string {
  const encode = (part: string) =>
    encodeURIComponent(part).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return key.split("/").map(encode).join("/");
}
