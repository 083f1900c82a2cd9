import { sha256 } from "./digest";

const digits = 8;

/** A secret of 64 hexadecimal digits with a check value, so that a changed digit does not pass for another secret. */
export function sealSecret(secret: string): string {
  return `${secret}-${checkOf(secret)}`;
}

/** Returns the secret, or undefined where the text is damaged. Earlier versions wrote it without a check value. */
export function openSecret(text: string): string | undefined {
  const [, secret, check] = /^([0-9a-f]{64})(?:-([0-9a-f]{8}))?$/.exec(text) ?? [];
  if (secret === undefined) return undefined;
  return check === undefined || check === checkOf(secret) ? secret : undefined;
}

const checkOf = (secret: string): string => sha256(`check of ${secret}`).slice(0, digits);
