import { sweepOutbox } from "../../../core/registry/outbox";
import { createRegistry } from "../../../core/registry/registry";
import { promoteJudged } from "../../support/registry";
import { at, type Delivery, type World } from "./world";

/** Changes of two models by processes that died before they published them; then the sweep of each minute. */
export async function modelChanges({ platform }: World): Promise<readonly Delivery[]> {
  const { outboxIndex, outbox, registry, team } = platform;
  const dying = createRegistry(registry.repository);
  for (const model of ["left", "served"]) {
    for (const n of [1, 2, 3]) {
      const made = { model, source: `s3://elsewhere/${n}`, metrics: { accuracy: 0.9 }, submittedBy: "ada" };
      await dying.register(team, made, { by: "test", at }, { request: `make-${n}` });
      await promoteJudged(dying, model, n);
    }
    await dying.rollBack(model, { by: "test", at });
  }
  const sweep = () =>
    sweepOutbox(outboxIndex, {
      outboxOf: () => outbox,
      clock: { now: () => Date.parse(at) + 60_000 },
      until: Number.POSITIVE_INFINITY,
      onError: (model, error) => {
        throw new Error(`the sweep of ${model}`, { cause: error });
      },
    });
  return [sweep, sweep, sweep];
}
