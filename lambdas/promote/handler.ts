import { runPhases } from "../../adapters/dynamodb/run-steps";
import { taskTokens } from "../../adapters/stepfunctions/task-tokens";
import { registry } from "../../adapters/team-registry";
import { isoTime } from "../../core/ports";
import { answerOutdated } from "../../core/registry/approval";
import type { RegistrationOutput } from "../../core/registry/registration";
import { promote } from "../../core/registry/transitions";
import { beginStep, outputOf, returnToEarlierStep } from "../../core/runs/step";
import { stepHandler } from "../step-handler";

/** Puts the run's approved version into production. */
export const handler = stepHandler(
  { runs: runPhases("use"), registry: registry("change"), tokens: taskTokens("answer") },
  async (ports, { runId }) => {
    const { registry, clock } = ports;
    const details = await beginStep(ports, runId, "Promote");
    const { model, version } = outputOf<RegistrationOutput>(details, "Register");
    const actor = { by: `run ${runId}`, at: isoTime(clock) };
    // Once: a repetition must not undo a rollback that was requested since.
    await returnToEarlierStep(ports, runId, "Promote", () =>
      registry.apply(model, [version], promote(version, actor), `promote#${runId}`),
    );
    // The promotion outdates verdicts of other versions: their runs evaluate again.
    await answerOutdated(ports, model);
    return { model, version };
  },
);
