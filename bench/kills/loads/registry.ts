import { RingmasterError } from "../../../core/errors";
import type { Operation as Change } from "../../../test/core/registry/check/operation";
import { drawOperations, preparedOperations } from "../../../test/core/registry/check/operations";
import { perform } from "../../../test/core/registry/check/perform";
import { step } from "../../../test/core/registry/check/reference";
import { instantViolations, replay } from "../../../test/core/registry/check/replay";
import { drained, type Load, type Operation, RefusedError } from "../../../test/support/operation-verdict";
import { versionOfRun } from "../../../test/support/registry";
import { type ConnectedRegistry, manifest } from "../../promotions/registry";

const versionsAModel = 4;
const roundsAModel = 10;

/**
 * Gate verdicts, approvals, promotions, rollbacks and labels of one model, as the API and the state machine make them. Every
 * entry of history is applied again to the reference model.
 */
export function registryLoad(connected: ConnectedRegistry): Load {
  const { registry } = connected;
  const changes = new Map<string, Map<string, Change>>();
  let model = "";
  const replayed = async (name: string) => {
    const { repository } = registry;
    const [head, versions, history] = await Promise.all([
      repository.find(name),
      repository.listVersions(name),
      repository.history(name),
    ]);
    // With the rows of deleted versions, which a snapshot lacks.
    const snapshot = { model: head!, versions, history };
    return { snapshot, ...replay(snapshot, changes.get(name)!) };
  };
  return {
    name: "registry",
    weight: 4,
    async begin(round) {
      const name = `kills-${Math.floor(round / roundsAModel)}`;
      if (name === model) return;
      model = name;
      const prepared = preparedOperations(versionsAModel, `${name}-prepare`);
      changes.set(name, new Map(prepared.map((change) => [change.id, change])));
      for (const change of prepared) await make(connected, name, change);
    },
    draw(random, id) {
      const name = model;
      const [change] = drawOperations(random, 1, versionsAModel, id);
      changes.get(name)!.set(change!.id, change!);
      return changeOf(connected, name, change!, () => replayed(name));
    },
    async settle() {
      const { snapshot, violations } = await replayed(model);
      const wrong = [...violations, ...instantViolations(snapshot)];
      if (wrong.length > 0) throw new Error(wrong.join("; "));
    },
    async audit() {
      // The sweep of each minute publishes events that killed processes left. The row is removed when the bus has its event.
      await drained("unpublished events of models", () => unpublished([...changes.keys()]), 180_000);
      return [];
    },
  };

  async function unpublished(models: readonly string[]): Promise<readonly string[]> {
    const left: string[] = [];
    for (const name of models) {
      const history = await registry.repository.history(name);
      for (const { revision } of history)
        if (await registry.repository.findEvent(name, revision)) left.push(`${name} revision ${revision}`);
    }
    return left;
  }
}

const titles: Partial<Record<Change["kind"], string>> = {
  ...{ pass: "verdict", fail: "verdict", approve: "approval", reject: "approval" },
  ...{ promote: "promotion", "roll-back": "rollback" },
};

/** Makes a change. The stack reads the manifest of a version that it publishes, so a registration stores one first. */
async function make({ registry, objects }: ConnectedRegistry, model: string, change: Change): Promise<void> {
  if (change.kind === "register") await objects.put(versionOfRun(model, change.id).artifactKey!, manifest);
  await perform(registry, model, change);
}

function changeOf(
  connected: ConnectedRegistry,
  model: string,
  change: Change,
  replayed: () => Promise<ReturnType<typeof replay>>,
): Operation {
  return {
    kind: `registry: ${titles[change.kind] ?? "labels, stages, traffic and others"}`,
    id: change.id,
    repeatable: true,
    mayBeRefused: true,
    async send() {
      try {
        await make(connected, model, change);
      } catch (error) {
        if (error instanceof RingmasterError && error.httpStatus < 500)
          throw new RefusedError(error.code, error.message);
        throw error;
      }
    },
    async count() {
      const { revisions } = await replayed();
      return revisions.has(change.id) ? 1 : 0;
    },
    /** Some changes have no effect in some states of the model, for example the same approval again. */
    async mayDoNothing() {
      const { states } = await replayed();
      return states.some((state) => step(state, change).kind === "nothing");
    },
  };
}
