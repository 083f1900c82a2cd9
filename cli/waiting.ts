import type { ApiClient } from "../client/api-client";
import type { NextStep } from "../core/registry/model";
import type { RegistrationOutput } from "../core/registry/registration";
import type { RunDetails } from "../core/runs/shapes";
import { findOutput } from "../core/runs/step";

/** An external event for which a run waits, and the command that provides it. */
export interface Awaited extends NextStep {
  readonly kind: "check" | "approval" | "test";
}

/** @returns nothing if the run waits for nobody: it is in another state, or about to continue */
export async function awaitedBy(client: ApiClient, details: RunDetails): Promise<readonly Awaited[]> {
  const registration = findOutput<RegistrationOutput>(details, "Register");
  if (details.run.phase !== "AwaitApproval" || !registration) return [];
  const { model, version: number } = registration;
  const { awaitedBy: runId, next = [] } = await client.modelVersion(model, number);
  return runId === details.run.runId ? next.filter(isAwaited) : [];
}

function isAwaited(step: NextStep): step is Awaited {
  return step.kind === "check" || step.kind === "approval" || step.kind === "test";
}

/** Returns one line for each step. */
export function nextLines(next: readonly NextStep[] = []): readonly string[] {
  return next.map(({ what, command }, at) => `${at === 0 ? "next" : "then"}: ${what}${command ? `: ${command}` : ""}`);
}
