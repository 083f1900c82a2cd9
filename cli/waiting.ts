import type { ApiClient } from "../client/api-client";
import { type NextStep, registrationKind } from "../core/registry/model";
import type { RunDetails } from "../core/runs/shapes";
import { findOutput } from "../core/runs/step";

/** An external event for which a run or its version waits, and the command that provides it. */
export interface Awaited extends NextStep {
  readonly kind: "check" | "approval" | "test";
}

/** @returns nothing if neither the run nor its version waits for anybody */
export async function awaitedBy(client: ApiClient, details: RunDetails): Promise<readonly Awaited[]> {
  const registration = findOutput(details, registrationKind);
  if (!registration || details.run.outcome?.decision !== "registered") return [];
  return awaitedSteps(await client.modelVersion(registration.model, registration.version));
}

/** Returns the steps of a version that a person or another system does. */
export function awaitedSteps({ next = [] }: { readonly next?: readonly NextStep[] }): readonly Awaited[] {
  return next.filter(isAwaited);
}

function isAwaited(step: NextStep): step is Awaited {
  return step.kind === "check" || step.kind === "approval" || step.kind === "test";
}

export function nextLines(next: readonly NextStep[] = []): readonly string[] {
  return next.map(({ what, command }, at) => `${at === 0 ? "next" : "then"}: ${what}${command ? `: ${command}` : ""}`);
}
