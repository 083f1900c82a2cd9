import { digestOf } from "../../digest";
import { toJson } from "../../json-text";
import { PageTokenError } from "./errors";
import type { OrderKey, OrderValue } from "./order";
import type { SearchQuery } from "./query";

/**
 * Encodes a page token: the order key of the last run on the page, and a digest of the query. The next page starts
 * after that position, even if runs were created or deleted.
 */
export function pageTokenOf(query: SearchQuery, last: OrderKey): string {
  const fields = [1, queryDigest(query), last.values.map(encode), last.startedAt, last.runId];
  return Buffer.from(toJson(fields)).toString("base64url");
}

/** @throws PageTokenError */
export function readPageToken(query: SearchQuery, terms: number, token: string): OrderKey {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    throw new PageTokenError("is not a token that a search returned");
  }
  if (!Array.isArray(fields) || fields.length !== 5 || fields[0] !== 1) {
    throw new PageTokenError("is not a token that a search returned");
  }
  const [, digest, encoded, startedAt, runId] = fields as readonly unknown[];
  if (digest !== queryDigest(query)) {
    throw new PageTokenError(
      "belongs to another query: experiments, filter, order and view must not change between pages",
    );
  }
  const values = Array.isArray(encoded) ? encoded.map(decode) : [];
  if (
    values.length !== terms ||
    values.includes(undefined) ||
    typeof startedAt !== "number" ||
    typeof runId !== "string"
  ) {
    throw new PageTokenError("is not a token that a search returned");
  }
  return { values: values as OrderValue[], startedAt, runId };
}

function queryDigest({ experimentIds, filter, language, orderBy, view }: SearchQuery): string {
  const dialect = language?.name ?? "ringmaster";
  return digestOf({ experimentIds: [...experimentIds].sort(), filter, dialect, orderBy, view }).slice(0, 16);
}

type Encoded = null | readonly ["n", number | string] | readonly ["t", string];

function encode(value: OrderValue): Encoded {
  if (value === null) return null;
  return typeof value === "number" ? ["n", value] : ["t", value];
}

function decode(value: unknown): OrderValue | undefined {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [kind, inner] = value as readonly unknown[];
  if (kind === "t") return typeof inner === "string" ? inner : undefined;
  const isNumber = typeof inner === "number" || inner === "NaN" || inner === "Infinity" || inner === "-Infinity";
  return kind === "n" && isNumber ? Number(inner) : undefined;
}
