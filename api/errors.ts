/**
 * Every error code of the API, with its status and its meaning. A route returns those of its contract and the general
 * ones.
 */
export const errorCatalogue = {
  INVALID_INPUT: {
    status: 400,
    meaning: "Something in the request breaks its rule; `details.problems` lists everything at once.",
  },
  EMPTY_DATASET: { status: 400, meaning: "The dataset has no rows." },
  INVALID_DATASET_MANIFEST: {
    status: 400,
    meaning: "The manifest contradicts itself or names content that was not uploaded.",
  },
  TEAM_NOT_CHOSEN: {
    status: 400,
    meaning: "The caller is in several teams: `X-Ringmaster-Team` must name one.",
  },
  UNAUTHENTICATED: { status: 401, meaning: "The request is not signed, or its token is missing, expired or wrong." },
  FORBIDDEN: { status: 403, meaning: "The caller may not do this." },
  CROSS_SITE_REQUEST: { status: 403, meaning: "A browser sent the form, but not from a page of this API." },
  NO_TEAM: { status: 403, meaning: "The caller is in no team: an operator must put it into one." },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: "The caller's token does not have the scope that the operation requires.",
  },
  NOT_IN_TEAM: { status: 403, meaning: "The caller is not in the team that it names." },
  NOT_AN_APPROVER: { status: 403, meaning: "The model's policy names others to decide on the version." },
  POLICY_NEEDS_PEOPLE: { status: 403, meaning: "Several authenticated people must request looser approval rules." },
  ROUTE_NOT_FOUND: { status: 404, meaning: "There is no such path." },
  RUN_NOT_FOUND: { status: 404, meaning: "There is no such run." },
  EXPERIMENT_NOT_FOUND: { status: 404, meaning: "There is no such experiment." },
  ARTIFACT_NOT_FOUND: { status: 404, meaning: "The run has no such artifact." },
  CHECKPOINT_NOT_FOUND: { status: 404, meaning: "The run has no checkpoint of that epoch, or no longer has it." },
  STUDY_NOT_FOUND: { status: 404, meaning: "There is no such study." },
  RETRAINING_RULE_NOT_FOUND: { status: 404, meaning: "There is no such retraining rule, or it was deleted." },
  MONITOR_NOT_FOUND: { status: 404, meaning: "There is no such monitor." },
  MONITOR_WINDOW_NOT_FOUND: { status: 404, meaning: "The monitor has no such window." },
  FEATURE_VIEW_NOT_FOUND: { status: 404, meaning: "There is no such feature view." },
  FEATURE_VIEW_VERSION_NOT_FOUND: { status: 404, meaning: "The feature view has no such version." },
  INBOX_REPORT_NOT_FOUND: { status: 404, meaning: "The inbox has no such report." },
  DATA_CONTRACT_NOT_FOUND: {
    status: 404,
    meaning: "The dataset has no data contract, or its contract has no such revision.",
  },
  DATASET_NOT_FOUND: { status: 404, meaning: "There is no such dataset." },
  DATASET_VERSION_NOT_FOUND: { status: 404, meaning: "The dataset has no such version." },
  MODEL_NOT_FOUND: { status: 404, meaning: "There is no such model." },
  MODEL_VERSION_NOT_FOUND: { status: 404, meaning: "The model has no such version." },
  ALIAS_NOT_FOUND: { status: 404, meaning: "The model has no such alias." },
  CHECK_NOT_FOUND: { status: 404, meaning: "Neither the model's policy nor the verdict has a check of that name." },
  NO_CHAMPION: { status: 404, meaning: "The model has no version in production." },
  CONTENT_NOT_FOUND: { status: 404, meaning: "The content store does not have it." },
  METHOD_NOT_ALLOWED: { status: 405, meaning: "The path takes other methods: the `Allow` header names them." },
  DATA_CONTRACT_CHANGED: { status: 409, meaning: "The data contract has another revision than the one to be changed." },
  IDEMPOTENCY_CONFLICT: { status: 409, meaning: "The `Idempotency-Key` was used with another request." },
  STUDY_WITHOUT_RESULT: { status: 409, meaning: "No trial of the study has a value yet." },
  STUDY_EXISTS: { status: 409, meaning: "A study of that name has another definition." },
  RETRAINING_RULE_EXISTS: { status: 409, meaning: "A rule of that name has another definition." },
  MONITOR_EXISTS: { status: 409, meaning: "A monitor of that name has other settings." },
  FEATURE_VIEW_INCOMPATIBLE: {
    status: 409,
    meaning: "The definition breaks readers of the version before, and the request does not allow it.",
  },
  FEATURE_VIEW_CHANGED: { status: 409, meaning: "The rows are for an earlier generation of the feature view." },
  EXPERIMENT_EXISTS: { status: 409, meaning: "An experiment, perhaps a deleted one, has that name." },
  EXPERIMENT_DELETED: { status: 409, meaning: "The experiment is deleted: it takes no new runs until it is restored." },
  RUN_DELETED: { status: 409, meaning: "The run is deleted: it does not change until it is restored." },
  RUN_FIELD_FIXED: { status: 409, meaning: "Only the platform changes this field of a training run." },
  PARAM_CONFLICT: { status: 409, meaning: "A param of that key has another value: params are written once." },
  OBJECT_DIFFERS: { status: 409, meaning: "An object that is written once exists with other content." },
  ARTIFACT_RESERVED: { status: 409, meaning: "Training itself writes the files of that path." },
  ARTIFACT_FROZEN: { status: 409, meaning: "The file belongs to a model version that was evaluated." },
  RUN_NOT_COMPLETED: { status: 409, meaning: "The run has not completed, so it has no model to register." },
  RUN_NOT_PAUSED: { status: 409, meaning: "The run is not paused, so it cannot be resumed." },
  RUN_ENDED: { status: 409, meaning: "The run has ended and can no longer change." },
  INBOX_FILE_NOT_REFUSED: { status: 409, meaning: "The file was not refused: there is nothing to try again." },
  INBOX_FILE_GONE: { status: 409, meaning: "The file is no longer in the inbox, or has other content." },
  DATASET_VERSION_DEPRECATED: { status: 409, meaning: "No new run may use that version." },
  DATASET_WITHOUT_ACTIVE_VERSION: { status: 409, meaning: "All versions of the dataset are deprecated." },
  SCHEMA_MISMATCH: {
    status: 409,
    meaning: "The columns differ from the version before, and the request does not allow it.",
  },
  GATE_NOT_PASSED: { status: 409, meaning: "The version has not passed its gates." },
  NOT_JUDGED: { status: 409, meaning: "The version has no verdict that an answer could belong to." },
  CHECK_ANSWERED_BY_HOOK: { status: 409, meaning: "Only the webhook of an HTTP check can answer it." },
  NOT_APPROVED: { status: 409, meaning: "The version has no approval, or was rejected." },
  CANARY_UNDER_TEST: { status: 409, meaning: "The version is a canary under test: decide the test, or end it, first." },
  APPROVAL_NOT_REQUESTED: { status: 409, meaning: "The version cannot wait for an approval." },
  APPROVAL_EXPIRED: { status: 409, meaning: "The request for an approval has expired: request it again." },
  GATE_OUTDATED: {
    status: 409,
    meaning: "The version's verdict is not about the present champion or policy: judge it again.",
  },
  IN_PRODUCTION: {
    status: 409,
    meaning: "The version is in production: only a promotion of another version or a rollback takes it out.",
  },
  MODEL_EXISTS: { status: 409, meaning: "There is a model of that name." },
  MODEL_NAME_FIXED: { status: 409, meaning: "A model keeps its name." },
  ALIAS_FOLLOWS_PRODUCTION: { status: 409, meaning: "The alias champion is set by promotions and rollbacks." },
  SEMVER_TAKEN: {
    status: 409,
    meaning: "The semver belongs to another version, or the version has another one; both are permanent.",
  },
  ALREADY_DECIDED: { status: 409, meaning: "The opposite decision on the version was made." },
  NOTHING_TO_ROLL_BACK: { status: 409, meaning: "The model had no version in production before this one." },
  ROLLBACK_OVERTAKEN: { status: 409, meaning: "The version to roll back is no longer in production." },
  RUN_RECORD_TOO_LARGE: { status: 413, meaning: "The run's record would not fit its row; nothing was changed." },
  EXPERIMENT_TOO_LARGE: { status: 413, meaning: "The experiment would not fit its row; nothing was changed." },
  RUN_NOT_EVALUATED: { status: 409, meaning: "The run has no record of a training and an evaluation." },
  RUN_NOT_TRAINED: { status: 409, meaning: "The run has no weights: its training is not finished, or never was." },
  REPRODUCTION_NOT_REGISTERED: { status: 409, meaning: "The run reproduces another one, so it makes no version." },
  NOT_A_REPRODUCTION: { status: 409, meaning: "The run reproduces no other run: name the run to compare it with." },
  NOTHING_TO_EXPORT: {
    status: 409,
    meaning: "The version has no artifact of a training run, or the artifact cannot be read.",
  },
  EXPORT_TOO_LARGE: { status: 409, meaning: "The model's weights are more than an export takes." },
  EXPORT_UNSUPPORTED: {
    status: 409,
    meaning: "The format cannot express a layer of the model, or a step of its plan; the error names it.",
  },
  EXPORT_DIFFERS: {
    status: 409,
    meaning: "The exported file does not compute what the platform computes; it was not kept.",
  },
  DATASET_CHANGED: {
    status: 409,
    meaning: "Rows were appended to a version that is no longer the newest: append them again.",
  },
  NOTIFICATIONS_NOT_SET: { status: 409, meaning: "The team has set no webhook, and does not publish on its topic." },
  NOT_A_CANARY: { status: 409, meaning: "Only a version in stage canary can get a part of the units." },
  NO_CANARY_TEST: { status: 409, meaning: "The model has no canary under test." },
  BODY_TOO_LARGE: { status: 413, meaning: "The body is larger than 10 MiB; data go through `POST /uploads`." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: "A body must be `application/json`." },
  THROTTLED: { status: 429, meaning: "Too many requests; send it again after a pause." },
  INTERNAL: { status: 500, meaning: "The platform failed; its log has the cause under the request id." },
  CORRUPT_OBJECT: { status: 500, meaning: "A stored object is damaged; the message and `details.key` name it." },
  BAD_GATEWAY: { status: 502, meaning: "The function failed before it could answer." },
  EXPERIMENT_BUSY: { status: 503, meaning: "Others change this experiment; send it again." },
  ARTIFACTS_BUSY: { status: 503, meaning: "Others change these artifacts; send it again." },
  RUN_BUSY: { status: 503, meaning: "Others change this run's record; send it again." },
  DATASET_BUSY: { status: 503, meaning: "Others register versions of this dataset; send it again." },
  STUDY_BUSY: { status: 503, meaning: "Others change this study; send it again." },
  RETRAINING_RULE_BUSY: { status: 503, meaning: "Others change this rule; send it again." },
  SERVED_ROWS_BUSY: { status: 503, meaning: "Others log served rows of this version; send larger batches, or again." },
  MONITOR_BUSY: { status: 503, meaning: "Others change this monitor; send it again." },
  FEATURE_VIEW_BUSY: { status: 503, meaning: "Others change this feature view; send it again." },
  OUTCOMES_BUSY: { status: 503, meaning: "Others report outcomes of this model; send it again." },
  REGISTRY_UNAVAILABLE: {
    status: 503,
    meaning:
      "The registry's table does not answer, and the bucket has no pointer to a champion of that model; send it again.",
  },
  REGISTRY_BUSY: { status: 503, meaning: "Others change this model; send it again." },
  TIMED_OUT: { status: 504, meaning: "No answer within 29 seconds; send it again." },
  STORAGE_FULL: { status: 507, meaning: "One machine: its disk is full; nothing was stored." },
} as const;

export type ErrorCode = keyof typeof errorCatalogue;

/** Error codes that any route may return. */
export const generalErrors: readonly ErrorCode[] = [
  "INVALID_INPUT",
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "INSUFFICIENT_SCOPE",
  "TEAM_NOT_CHOSEN",
  "NO_TEAM",
  "NOT_IN_TEAM",
  "THROTTLED",
  "INTERNAL",
  "BAD_GATEWAY",
  "TIMED_OUT",
  "STORAGE_FULL",
  "CORRUPT_OBJECT",
];
/** Error codes that any route with a body may return. */
const bodyErrors: readonly ErrorCode[] = ["BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];

/** Returns every error code of an operation. */
export function errorCodesOf(operation: {
  readonly errors: readonly ErrorCode[];
  readonly body?: unknown;
}): readonly ErrorCode[] {
  return [...operation.errors, ...generalErrors, ...(operation.body === undefined ? [] : bodyErrors)];
}
