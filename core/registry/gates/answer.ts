import { isoTime } from "../../ports";
import { type ApprovalDependencies, answerApproval } from "../approval";
import type { ModelVersion } from "../model";
import { answerCheck } from "./transitions";
import type { CheckAnswer } from "./verdict";

/**
 * Records a command's answer to a check, then answers the run that waits with the version if the answer decides.
 * Idempotent.
 *
 * @throws ModelNotFoundError, VersionNotFoundError, NotJudgedError, CheckNotFoundError, CheckAnsweredByHookError,
 * RegistryBusyError
 */
export async function answerVersionCheck(
  dependencies: ApprovalDependencies,
  target: { readonly model: string; readonly version: number; readonly check: string },
  answer: Omit<CheckAnswer, "at">,
): Promise<ModelVersion> {
  const { registry, clock } = dependencies;
  const { model, version, check } = target;
  const head = await registry.apply(model, [version], answerCheck(version, check, { ...answer, at: isoTime(clock) }));
  const answered = await registry.version(model, version);
  await answerApproval(dependencies, head, answered);
  return answered;
}
