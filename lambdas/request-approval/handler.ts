import { isoTime } from "../../core/clock";
import type { RegistrationOutput } from "../../core/pipelines/outputs";
import { beginStep, outputOf } from "../../core/pipelines/step";
import { answerApproval } from "../../core/registry/approval";
import { requestApproval } from "../../core/registry/transitions";
import { stepHandler } from "../step-handler";

/** Leaves the task token for the call that approves or rejects; answers at once where the word is known, or the version is the champion. */
export const handler = stepHandler(async (platform, { runId, taskToken }) => {
  const { runs, registry, tokens, clock } = platform;
  if (taskToken === undefined) throw new Error("request-approval was invoked without a task token");
  const details = await beginStep(platform, runId, "AwaitApproval");
  const { model, version } = outputOf<RegistrationOutput>(details, "Register");
  await runs.putTaskToken(runId, "AwaitApproval", taskToken);
  const head = await registry.apply(
    model,
    [version],
    requestApproval(version, runId, { by: `run ${runId}`, at: isoTime(clock) }),
  );
  if (head.production === version) {
    await tokens.succeed(taskToken, { runId });
    return { waiting: false };
  }
  const candidate = await registry.version(model, version);
  await answerApproval(platform, candidate);
  return { waiting: candidate.approval === undefined };
});
