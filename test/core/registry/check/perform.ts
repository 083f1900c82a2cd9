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
import { type Operation, type OperationKind, policies, reasonOf } from "./operation";

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
  const judge = async () => {
    // Like a judge, which reads the state and records its finding later, even if the state has changed.
    // If the model was deleted after the first attempt, whose response was lost, the second attempt finds that it was done.
    const { production, policy } = (await registry.repository.find(model)) ?? {};
    const about = { champion: production ?? 0, rules: policy?.rulesRevision ?? 0 };
    const verdict = verdictOn({ production, policy }, kind === "pass");
    return apply(recordGate(version, verdict, { ...actor, reason: reasonOf(id, about) }));
  };
  const redirect = (canaries: Parameters<typeof setTraffic>[0]["canaries"], versions: readonly number[]) => {
    const tested = value === "tested" ? { test: plan } : {};
    return apply(setTraffic({ canaries, shadows: [], ...tested }, actor), versions);
  };
  const setNamedPolicy = () => {
    const { threshold, ...approvals } = policies[value]!;
    return apply(setPolicy({ ...noRules, thresholds: { accuracy: threshold } }, approvals, actor), []);
  };
  const ways: Readonly<Record<OperationKind, () => Promise<unknown>>> = {
    register: () => registry.register("default", versionOfRun(model, id), actor, { runId: id }),
    "roll-back": () => registry.rollBack(model, actor, { request: id }),
    pass: judge,
    fail: judge,
    approve: () => apply(decideApproval(version, "approved", actor)),
    reject: () => apply(decideApproval(version, "rejected", actor)),
    promote: () => apply(promote(version, actor)),
    stage: () => apply(setStage(version, value as Stage, actor)),
    alias: () => apply(setAlias(value, version, actor)),
    unalias: () => apply(deleteAlias(value, actor), []),
    tag: () => apply(setTag(version, "tag", value, actor)),
    untag: () => apply(deleteTag(version, "tag", actor)),
    semver: () => registry.apply(model, { versions: [version], semver: value }, setSemver(version, value, actor), id),
    delete: () => apply(deleteVersion(version, actor)),
    restore: () => apply(restoreVersion(version, actor)),
    "delete-model": () => apply(deleteModel(actor), []),
    "restore-model": () => apply(restoreModel(actor), []),
    create: () => registry.create("default", model, { description: "", tags: {} }, actor, id),
    traffic: () => redirect([{ version, weight: 0.1 }], [version]),
    "no-traffic": () => redirect([], []),
    policy: setNamedPolicy,
  };
  await ways[kind]();
}
