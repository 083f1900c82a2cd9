import { randomUUID } from "node:crypto";
import { allOperations } from "../../api/operations";
import { defaultScopes } from "../../core/access/tokens";
import { failureOf, type NextMove, type Resolved } from "../../core/pipelines/begin-step";
import { loadStep } from "../../core/pipelines/context";
import { endStep, type StepEnd } from "../../core/pipelines/end-step";
import { stepsOf } from "../../core/pipelines/plan";
import type { StepDependencies } from "../../core/pipelines/ports";
import { invalidStepField } from "../../core/pipelines/ports";
import type { StepReference } from "../../core/pipelines/records";
import { functionNameIn } from "../../platform/functions";
import type { ModuleCall } from "../run-module/handler";

/** An invocation of a function by the execution of a step. */
export interface StepCall {
  readonly kind: "module" | "lambda" | "api";
  readonly function: string;
  readonly payload: unknown;
}

interface CallDependencies extends StepDependencies {
  readonly config: { readonly prefix: string };
  readonly contentUrls: { forDownload(sha256: string): Promise<string> };
}

/** Size above which an input travels by URL: the payload between two states has 256 KiB. */
const maxInlineInput = 100_000;

/** Adds the function and its payload to a move that calls one. A call that cannot be made ends the step. */
export async function withCall(
  dependencies: CallDependencies,
  reference: StepReference,
  move: NextMove,
): Promise<NextMove & { readonly call?: StepCall }> {
  if (move.next !== "call") return move;
  const { resolved, ...rest } = move;
  try {
    return { ...rest, resolved: {}, call: await callOf(dependencies, reference, resolved, move.attempt) };
  } catch (error) {
    const failure = failureOf(error);
    if (!failure) throw error;
    const { retryAfter } = await endStep(dependencies, reference, { status: "failed", failure }, move.attempt);
    return retryAfter === undefined ? { next: "done" } : { next: "poll", seconds: retryAfter };
  }
}

async function callOf(
  dependencies: CallDependencies,
  reference: StepReference,
  resolved: Resolved,
  attempt: number,
): Promise<StepCall> {
  const { config, contentUrls, objects } = dependencies;
  const { run, plan } = await loadStep(dependencies, reference);
  const { function: called } = stepsOf(plan).get(reference.step)!;
  if (called === undefined) {
    const payload = apiEvent(resolved["api"] as ApiCall, run.team, `pipeline ${run.pipeline}`);
    return { kind: "api", function: functionNameIn(config.prefix, "api"), payload };
  }
  const input = resolved["input"] ?? {};
  if (typeof called === "string") return { kind: "lambda", function: called, payload: input };
  const text = JSON.stringify(input);
  const large =
    Buffer.byteLength(text) > maxInlineInput ? await objects.putContent(text, "application/json") : undefined;
  const { pipelineRunId, step, item } = reference;
  const payload: ModuleCall = {
    url: await contentUrls.forDownload(called.sha256!),
    sha256: called.sha256!,
    module: called.module,
    ...(large ? { inputUrl: await contentUrls.forDownload(large.sha256) } : { input }),
    context: { pipelineRunId, step, ...(item === undefined ? {} : { item }), attempt },
  };
  return { kind: "module", function: functionNameIn(config.prefix, "run-module"), payload };
}

interface ApiCall {
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/**
 * Makes the event that the gateway would send for a call of the API. The caller is the pipeline of its team. It has
 * the default scopes, so it cannot decide what serves, even if its author may.
 */
function apiEvent({ operation: id, params = {}, query = {}, body }: ApiCall, team: string, actor: string) {
  const operation = allOperations.find(({ operationId }) => operationId === id);
  if (!operation) throw invalidStepField("api.operation", id, "must be the id of an operation of the API (docs/api)");
  const path = `/api/v1${operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? "")))}`;
  const texts = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return {
    ...{
      resource: path,
      path,
      httpMethod: operation.method,
      isBase64Encoded: false,
      stageVariables: null,
      pathParameters: null,
    },
    headers: { "content-type": "application/json", "x-ringmaster-team": team },
    multiValueHeaders: { "content-type": ["application/json"], "x-ringmaster-team": [team] },
    queryStringParameters: texts,
    multiValueQueryStringParameters: Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, [value]])),
    body: body === undefined ? null : JSON.stringify(body),
    requestContext: {
      httpMethod: operation.method,
      path,
      requestId: randomUUID(),
      authorizer: { principalId: actor, team, scopes: defaultScopes.join(" ") },
    },
  };
}

/** Reads the result of a call. */
export function endOfCall(kind: StepCall["kind"], result: unknown): StepEnd {
  if (kind === "lambda") return { status: "succeeded", output: result };
  if (kind === "module") {
    const { output, failure } = result as { output?: unknown; failure?: { code: string; message: string } };
    return failure ? { status: "failed", failure } : { status: "succeeded", output };
  }
  const { statusCode, body } = result as { statusCode: number; body: string };
  const answer: unknown = body ? JSON.parse(body) : null;
  if (statusCode < 400) return { status: "succeeded", output: answer };
  const { code = "API_FAILED", message = body } =
    (answer as { error?: { code?: string; message?: string } }).error ?? {};
  return { status: "failed", failure: { code, message: `the API answered ${statusCode}: ${message}` } };
}
