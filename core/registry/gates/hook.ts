import { sha256 } from "../../digest";
import type { ContentReference } from "../../ports";
import type { ExternalCheck } from "../policy";
import type { CheckAnswer } from "./verdict";

export type HttpCheck = Extract<ExternalCheck, { readonly kind: "http" }>;

/** The body that an HTTP check is asked with: docs/gates.md, "A check of one's own". */
export interface HookRequest {
  readonly type: "ringmaster.check";
  readonly check: string;
  readonly team: string;
  readonly model: string;
  readonly version: number;
  readonly runId?: string;
  readonly metrics: Readonly<Record<string, number>>;
  readonly champion?: { readonly version: number; readonly metrics: Readonly<Record<string, number>> };
  /** Presigned for a quarter of an hour. */
  readonly artifacts: readonly ({ readonly name: string; readonly url: string } & ContentReference)[];
}

export type HookOutcome = { readonly answer: CheckAnswer } | { readonly unanswered: string };

/** The port to hooks: asks once or more under one delivery id. Never rejects for what the hook does: that is an outcome. */
export interface CheckHooks {
  ask(check: HttpCheck, deliveryId: string, key: Uint8Array, request: HookRequest): Promise<HookOutcome>;
  /** Why a check must not have that URL. `undefined` where it may, or where its name has no address yet: it is checked again when it is asked. */
  problemOf(url: string): Promise<string | undefined>;
}

/** The same question has the same id, however often it is asked: receivers know it again. */
export function deliveryId(
  { name, url, keyGeneration }: HttpCheck,
  { team, model, version }: Pick<HookRequest, "team" | "model" | "version">,
): string {
  return `check_${sha256(JSON.stringify([team, model, version, name, url, keyGeneration ?? 1])).slice(0, 32)}`;
}
