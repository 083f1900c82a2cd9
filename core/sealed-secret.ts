import { sha256 } from "./digest";

const digits = 8;

/** Adds a check value to a secret of 64 hexadecimal digits, so that a changed digit is detected. */
export function sealSecret(secret: string): string {
  return `${secret}-${checkOf(secret)}`;
}

/** Returns the secret; `undefined` if the text is damaged. Earlier versions wrote it without a check value. */
export function openSecret(text: string): string | undefined {
  const [, secret, check] = /^([0-9a-f]{64})(?:-([0-9a-f]{8}))?$/.exec(text) ?? [];
  if (secret === undefined) return undefined;
  return check === undefined || check === checkOf(secret) ? secret : undefined;
}

const checkOf = (secret: string): string => sha256(`check of ${secret}`).slice(0, digits);
