import { createHmac, timingSafeEqual } from "node:crypto";
import { UnauthenticatedError } from "../access/errors";
import { sha256 } from "../digest";
import { InvalidInputError } from "../errors";
import type { CauseRecord } from "./cause";
import { type FireDependencies, fire } from "./fire";

const toleranceSeconds = 300;
const maxBodyBytes = 16_384;

/** The signature of a webhook's body: `sha256=` and the hex HMAC-SHA256 of `timestamp.body`. */
export const signatureOf = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;

/**
 * Fires a trigger by a signed request. The signed content names the cause, so that a repeated request is the same cause.
 * @param timestamp seconds since the epoch; at most five minutes from now
 * @throws UnauthenticatedError, also if there is no such trigger
 */
export async function receiveWebhook(
  dependencies: FireDependencies,
  name: string,
  { timestamp, signature, body }: { readonly timestamp: string; readonly signature: string; readonly body: string },
): Promise<CauseRecord> {
  const { triggers, clock } = dependencies;
  const [state, secret] = await Promise.all([triggers.find(name), triggers.findSecret(name)]);
  const isWebhook = state?.trigger.on.type === "webhook" && state.trigger.deletedAt === undefined;
  // An unknown trigger takes as long as a known one.
  const expected = Buffer.from(signatureOf(secret ?? "", timestamp, body));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected) || !isWebhook || secret === undefined)
    throw new UnauthenticatedError(
      "x-ringmaster-signature must be sha256= and the hex HMAC-SHA256 of `timestamp.body` with the secret of a webhook's trigger",
    );
  if (!(Math.abs(clock.now() / 1_000 - Number(timestamp)) <= toleranceSeconds))
    throw new UnauthenticatedError(
      `x-ringmaster-timestamp is ${JSON.stringify(timestamp)}, but must be within ${toleranceSeconds} seconds of the present time in seconds`,
    );
  if (Buffer.byteLength(body) > maxBodyBytes)
    throw new InvalidInputError("the request", [{ path: "body", rule: `must have at most ${maxBodyBytes} bytes` }]);
  const at = new Date(Number(timestamp) * 1_000).toISOString();
  const digest = sha256(`${timestamp}.${body}`);
  const record = await fire(dependencies, name, { type: "webhook", at, digest, body });
  return record!;
}
