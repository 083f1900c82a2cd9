import { digestOf, sha256 } from "../../digest";
import type { ObjectStore } from "../../ports";
import type { ExternalCheck } from "../../runs/gate-rules";
import type { ContentReference } from "../../shapes";
import { signingKey } from "../../signing-key";
import type { CheckAnswer, GateCheck, GateVerdict } from "./verdict";

/** Returns a digest of the check's definition. If the definition changes, earlier answers no longer count. */
export function checkDigest(check: ExternalCheck): string {
  return digestOf(check);
}

/** The check's line in a verdict without an answer. @param why the reason for waiting, as a sentence */
export function pendingCheck(check: ExternalCheck, why: string): GateCheck {
  const { name, kind } = check;
  const external = { kind, digest: checkDigest(check) };
  const evidence = `${name} has no answer yet: ${why}`;
  return { gate: "check", metric: name, value: null, limit: null, passed: false, pending: true, evidence, external };
}

export function answeredCheck(line: GateCheck, answer: CheckAnswer): GateCheck {
  const { passed, by, exitCode } = answer;
  const how = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
  const evidence = `${line.metric} ${passed ? "passed" : "failed"}${how}, reported by ${by}: ${answer.evidence}`;
  const { pending: _, ...rest } = line;
  return { ...rest, passed, evidence, external: { ...line.external!, answer } };
}

export function answerIn(verdict: GateVerdict | undefined, name: string, digest: string): CheckAnswer | undefined {
  const line = verdict?.checks.find(({ metric, external }) => metric === name && external?.digest === digest);
  return line?.external?.answer;
}

/** Returns whether nothing has failed and a check has no answer yet. */
export function isPending({ checks }: Pick<GateVerdict, "checks">): boolean {
  return checks.some(({ pending }) => pending) && checks.every(({ passed, pending }) => passed || pending);
}

export function verdictPassed(checks: readonly GateCheck[]): boolean {
  return checks.every(({ passed }) => passed);
}

export type HttpCheck = Extract<ExternalCheck, { readonly kind: "http" }>;

/** The body of a request to an HTTP check: docs/gates.md, "Your own checks". */
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

/** Sends requests with one delivery id. Never rejects because of the hook's behaviour, which is an outcome. */
export interface CheckHooks {
  call(check: HttpCheck, deliveryId: string, key: Uint8Array, request: HookRequest): Promise<HookOutcome>;
  /** Returns why a check must not have that URL, if so. A name without an address passes: each request checks again. */
  problemOf(url: string): Promise<string | undefined>;
}

/** Returns the delivery id. Repetitions of a request have the same id, so that receivers can recognise them. */
export function deliveryId(
  { name, url, keyGeneration }: HttpCheck,
  { team, model, version }: Pick<HookRequest, "team" | "model" | "version">,
): string {
  return `check_${sha256(JSON.stringify([team, model, version, name, url, keyGeneration ?? 1])).slice(0, 32)}`;
}

/** Derives the key that signs one check's requests, from model, check and generation. */
export function hookKey(
  objects: ObjectStore,
  randomBytes: (count: number) => Uint8Array,
  of: { readonly model: string; readonly check: string; readonly generation: number },
): Promise<Uint8Array> {
  return signingKey(objects, randomBytes, ["ringmaster.check", of.model, of.check, of.generation]);
}
