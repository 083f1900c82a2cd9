import { deleteAlias, deleteTag, setAlias, setSemver, setTag } from "../../../../core/registry/labels";
import {
  deleteModel,
  deleteVersion,
  restoreModel,
  restoreVersion,
  setPolicy,
} from "../../../../core/registry/lifecycle";
import type { Stage } from "../../../../core/registry/model";
import { noRules } from "../../../../core/registry/policy";
import type { Registry } from "../../../../core/registry/registry";
import { setTraffic } from "../../../../core/registry/serving/decide";
import { decideApproval, promote, recordGate, setStage } from "../../../../core/registry/transitions";
import { verdictOn, versionOfRun } from "../../../support/registry";
import { type Operation, policies, reasonOf } from "./operation";

const plan = {
  metric: "conversion",
  kind: "binary",
  goal: "increase",
  margin: 0,
  alpha: 0.05,
  effect: 0.1,
  minUnits: 100,
  act: "advise",
} as const;

const at = "2026-01-01T00:00:00.000Z";

/** Does an operation as the API and the state machine do; doing it again is doing it once. */
export async function perform(registry: Registry, model: string, operation: Operation): Promise<void> {
  const { id, by, kind, version, value = "" } = operation;
  const actor = { by, person: { id: `id of ${by}`, names: [by] }, reason: id, at };
  const apply = (transition: Parameters<Registry["apply"]>[2], versions: readonly number[] = [version]) =>
    registry.apply(model, versions, transition, id);
  switch (kind) {
    case "register":
      await registry.register("default", versionOfRun(model, id), actor, { runId: id });
      return;
    case "roll-back":
      await registry.rollBack(model, actor, { request: id });
      return;
    case "pass":
    case "fail": {
      // Like a judge, which reads the state and records its finding later, even if the state has changed.
      // If the model was deleted after the first attempt, whose response was lost, the second attempt finds that it was done.
      const { production, policy } = (await registry.repository.find(model)) ?? {};
      const about = { champion: production ?? 0, rules: policy?.rulesRevision ?? 0 };
      const verdict = verdictOn({ production, policy }, kind === "pass");
      await apply(recordGate(version, verdict, { ...actor, reason: reasonOf(id, about) }));
      return;
    }
    case "approve":
    case "reject":
      await apply(decideApproval(version, kind === "approve" ? "approved" : "rejected", actor));
      return;
    case "promote":
      await apply(promote(version, actor));
      return;
    case "stage":
      await apply(setStage(version, value as Stage, actor));
      return;
    case "alias":
      await apply(setAlias(value, version, actor));
      return;
    case "unalias":
      await apply(deleteAlias(value, actor), []);
      return;
    case "tag":
      await apply(setTag(version, "tag", value, actor));
      return;
    case "untag":
      await apply(deleteTag(version, "tag", actor));
      return;
    case "semver":
      await registry.apply(model, { versions: [version], semver: value }, setSemver(version, value, actor), id);
      return;
    case "delete":
      await apply(deleteVersion(version, actor));
      return;
    case "restore":
      await apply(restoreVersion(version, actor));
      return;
    case "delete-model":
      await apply(deleteModel(actor), []);
      return;
    case "restore-model":
      await apply(restoreModel(actor), []);
      return;
    case "create":
      await registry.create("default", model, { description: "", tags: {} }, actor, id);
      return;
    case "traffic": {
      const tested = value === "tested" ? { test: plan } : {};
      await apply(setTraffic({ canaries: [{ version, weight: 0.1 }], shadows: [], ...tested }, actor));
      return;
    }
    case "no-traffic":
      await apply(setTraffic({ canaries: [], shadows: [] }, actor), []);
      return;
    case "policy": {
      const { threshold, ...approvals } = policies[value]!;
      await apply(setPolicy({ ...noRules, thresholds: { accuracy: threshold } }, approvals, actor), []);
    }
  }
}
