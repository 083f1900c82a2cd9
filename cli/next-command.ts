import type { RingmasterError } from "../core/errors";
import { shellWord } from "../core/shell-word";

type Details = Readonly<Record<string, unknown>>;

const person = "`ringmaster tokens create NAME --scope read,write,approve` creates one";
const show = ({ model }: Details): string => `\`ringmaster models show ${named(model)}\``;
const judge = (what: string, { model, version }: Details): string =>
  `${what}: ringmaster models judge ${named(model)} ${version}`;

/** The command line's part of an error's message by the error's code: the command that helps. */
const commands: Readonly<Record<string, (details: Details) => string | undefined>> = {
  ALIAS_NOT_FOUND: (of) => `${show(of)} lists its aliases`,
  APPROVAL_EXPIRED: ({ model, version }) =>
    `request it again: ringmaster models request-approval ${named(model)} ${version}`,
  APPROVAL_NOT_REQUESTED: (of) => (of["judged"] === false ? judge("evaluate it first", of) : undefined),
  CANARY_UNDER_TEST: ({ model }) =>
    `carry out the decision with \`ringmaster models traffic decide ${named(model)}\`, or end the test first: ` +
    `\`ringmaster models traffic set ${named(model)}\` without this canary or without --metric`,
  CHECK_ANSWERED_BY_HOOK: () => "`ringmaster models judge` calls the webhook again while the check is pending",
  CHECKPOINT_NOT_FOUND: ({ runId }) => `\`ringmaster runs checkpoints ${runId}\` lists them`,
  CORRUPT_OBJECT: ({ runId }) =>
    runId === undefined ? undefined : `\`ringmaster runs checkpoints ${runId}\` lists the other checkpoints`,
  DATA_CONTRACT_CHANGED: ({ dataset }) =>
    `read it with \`ringmaster datasets contract show ${dataset}\` and set it again`,
  DATA_CONTRACT_NOT_FOUND: ({ dataset }) =>
    `\`ringmaster datasets contract set ${dataset} --file contract.yaml\` sets one`,
  DATASET_NOT_FOUND: ({ name }) => `\`ringmaster datasets push ${name} --file … --schema …\` creates it`,
  FEATURE_VIEW_NOT_FOUND: () => "`ringmaster views list` shows the views",
  GATE_NOT_PASSED: (of) =>
    (of["failed"] as readonly unknown[]).length === 0 ? judge("evaluate it first", of) : undefined,
  GATE_OUTDATED: (of) =>
    of["runId"] === undefined
      ? judge("evaluate it again", of)
      : `it is evaluated again and then waits for approval: ringmaster models show ${named(of["model"])}`,
  IN_PRODUCTION: () =>
    "to replace it, promote another version (`ringmaster models promote`) or roll back (`ringmaster models rollback`)",
  INBOX_FILE_GONE: () => "see `ringmaster datasets inbox`",
  INBOX_REPORT_NOT_FOUND: () => "`ringmaster datasets inbox` lists the reports",
  MODEL_EXISTS: () => "`ringmaster models show` shows it",
  MODEL_NOT_FOUND: ({ renamedTo }) =>
    renamedTo === undefined ? "`ringmaster models list` shows the models" : undefined,
  MODEL_VERSION_NOT_FOUND: (of) => `${show(of)} lists its versions`,
  MONITOR_EXISTS: ({ monitor }) => `\`ringmaster monitors delete ${monitor}\` deletes it`,
  MONITOR_NOT_FOUND: () => "`ringmaster monitors list` shows the monitors",
  MONITOR_WINDOW_NOT_FOUND: ({ monitor }) => `\`ringmaster monitors show ${monitor}\` lists its windows`,
  NO_CANARY_TEST: ({ model }) =>
    `set one with \`ringmaster models traffic set ${named(model)} --canary VERSION=WEIGHT --metric NAME\``,
  NO_CHAMPION: (of) => `approve a version that passed its gates (${show(of)})`,
  NOT_A_CANARY: ({ model, version }) =>
    `move it with \`ringmaster models stage ${named(model)} ${version} canary\`, which needs a passed gate`,
  NOT_AN_APPROVER: ({ refusal }) => (refusal === "no-identity" ? `${person} for each person` : undefined),
  NOT_APPROVED: ({ model, version, decision }) =>
    decision === "waiting" ? `\`ringmaster models approve ${named(model)} ${version}\` approves it` : undefined,
  NOT_JUDGED: (of) => judge("evaluate it first", of),
  NOTHING_TO_ROLL_BACK: () => "`ringmaster models promote` promotes an approved version",
  NOTIFICATIONS_NOT_SET: () => "`ringmaster notify set --url https://…` or `ringmaster notify set --topic` sets one",
  POLICY_NEEDS_PEOPLE: () => `a token makes a caller a person: ${person}`,
  TRIGGER_EXISTS: ({ trigger }) => `\`ringmaster triggers create … --name ${trigger} --update\` changes it`,
  TRIGGER_NOT_FOUND: () => "`ringmaster triggers list` shows the triggers",
  ROLLBACK_OVERTAKEN: (of) => `look at ${show(of)} and decide again`,
  RUN_NOT_FOUND: () => "`ringmaster runs list` lists training runs, and `ringmaster runs search` all runs",
  RUN_NOT_PAUSED: () => "`ringmaster runs restore` starts a run from a checkpoint",
  STUDY_EXISTS: ({ study }) => `\`ringmaster study extend ${study}\` continues it`,
  STUDY_NOT_FOUND: () => "`ringmaster study list` shows the studies",
  STUDY_WITHOUT_RESULT: ({ study }) => `\`ringmaster study show ${study}\` lists the trials`,
};

function named(model: unknown): string {
  return shellWord(String(model));
}

export function commandAfter({ code, details }: RingmasterError): string | undefined {
  return Object.hasOwn(commands, code) ? commands[code]?.((details ?? {}) as Details) : undefined;
}
