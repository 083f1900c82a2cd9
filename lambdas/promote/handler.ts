import { meter } from "../../adapters/cloudwatch/emf-meter";
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
  { runs: runPhases("use"), registry: registry("change"), tokens: taskTokens("answer"), meter: meter() },
  async (ports, { runId, request, ...target }) => {
    const { registry, clock } = ports;
    if (target.model !== undefined && target.version !== undefined) {
      const { model, version } = target;
      const by = { by: `run ${runId}`, at: isoTime(clock) };
      const before = await registry.head(model);
      // Once: a repetition must not undo a rollback that was requested since.
      const after = await registry.apply(
        model,
        [version],
        promote(version, by),
        `promote#${runId}#${version}#${request}`,
      );
      if (before.production !== version && after.production === version) {
        ports.meter.emit({ ModelsPromoted: 1 }, ports.team, { runId });
      }
      await answerOutdated(ports, model);
      return { model, version };
    }
    // Executions of an earlier release promote before the run ends.
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
