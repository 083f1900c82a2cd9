/** A JSON value, as Step Functions passes it between states. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The limit on payloads between states, task results and an execution's input: 256 KiB of UTF-8. */
export const maxPayloadBytes = 262_144;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

export const isInteger = (value: unknown): value is number => Number.isInteger(value);

export const byteLength = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/** Matches a timestamp of the States Language. */
export const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
