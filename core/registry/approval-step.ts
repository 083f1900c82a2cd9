import { isoTime } from "../ports";
import type { RunPhases } from "../runs/run-repository";
import { beginStep, outputOf } from "../runs/step";
import { type ApprovalDependencies, answerRun } from "./approval";
import type { RegistrationOutput } from "./registration";
import { requestApproval } from "./transitions";

/**
 * Stores the task token for the request that approves or rejects. Answers immediately if the decision is known or the
 * version is the champion.
 */
export async function awaitApproval(
  dependencies: ApprovalDependencies & { readonly runs: RunPhases },
  runId: string,
  taskToken: string,
): Promise<{ readonly waiting: boolean }> {
  const { runs, registry, tokens, clock } = dependencies;
  const details = await beginStep(dependencies, runId, "AwaitApproval");
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
  return { waiting: !(await answerRun(dependencies, runId, head, candidate)) };
}
