import type { Platform } from "../../adapters/platform";
import * as approvals from "../../core/registry/approval-requests";
import { isPending } from "../../core/registry/gates/external-check";
import { judgeVersion } from "../../core/registry/gates/judge-version";
import type { Actor } from "../../core/registry/model";
import { registerRun } from "../../core/registry/registration";
import { timeModel } from "../../trainer-container/tfjs/time-model";

/** Registers, judges, and requests the approval if the gates let it pass. Idempotent. @returns the version's number */
export async function registerTrainedRun(
  platform: Platform,
  runId: string,
  model: string,
  by: Omit<Actor, "at">,
): Promise<number> {
  const { version } = await registerRun(platform, runId, model, by);
  const { gate } = await judgeVersion({ ...platform, timeModel }, model, version, by, `register#${runId}`);
  if (gate?.passed || (gate && isPending(gate))) {
    const request = { id: `register#${runId}`, again: false };
    await approvals.request(platform, { team: platform.team, model, version }, request, by);
  }
  return version;
}
