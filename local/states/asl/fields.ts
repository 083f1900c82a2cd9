import type { QueryLanguage, StateType } from "../types";

/** The fields that a state may have, by type and query language (https://states-language.net/spec.html). */
const common = ["Type", "Comment", "QueryLanguage"];
const transition = ["Next", "End"];
const recovery = ["Retry", "Catch"];
const paths = ["InputPath", "OutputPath"];
const result = ["ResultPath", "ResultSelector", "Parameters"];

const jsonPath: Readonly<Record<StateType, readonly string[]>> = {
  Pass: [...transition, ...paths, "ResultPath", "Parameters", "Result", "Assign"],
  Task: [
    ...[...transition, ...recovery, ...paths, ...result, "Assign", "Resource"],
    ...["TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"],
  ],
  Choice: [...paths, "Choices", "Default", "Assign"],
  Wait: [...transition, ...paths, "Seconds", "SecondsPath", "Timestamp", "TimestampPath", "Assign"],
  Succeed: paths,
  Fail: ["Error", "Cause", "ErrorPath", "CausePath"],
  Parallel: [...transition, ...recovery, ...paths, ...result, "Assign", "Branches"],
  Map: [
    ...[...transition, ...recovery, ...paths, ...result, "Assign", "ItemProcessor", "Iterator"],
    ...["ItemsPath", "ItemSelector", "MaxConcurrency", "MaxConcurrencyPath", "Label"],
  ],
};

const jsonata: Readonly<Record<StateType, readonly string[]>> = {
  Pass: [...transition, "Output", "Assign"],
  Task: [...transition, ...recovery, "Resource", "Arguments", "Output", "Assign", "TimeoutSeconds", "HeartbeatSeconds"],
  Choice: ["Choices", "Default", "Output", "Assign"],
  Wait: [...transition, "Seconds", "Timestamp", "Output", "Assign"],
  Succeed: ["Output"],
  Fail: ["Error", "Cause"],
  Parallel: [...transition, ...recovery, "Branches", "Arguments", "Output", "Assign"],
  Map: [
    ...[...transition, ...recovery, "ItemProcessor", "Items", "ItemSelector", "MaxConcurrency", "Output", "Assign"],
    "Label",
  ],
};

export const isStateType = (type: unknown): type is StateType =>
  typeof type === "string" && Object.hasOwn(jsonata, type);
export const stateTypes = Object.keys(jsonata);

export const allowedFields = (type: StateType, language: QueryLanguage): ReadonlySet<string> =>
  new Set([...common, ...(language === "JSONata" ? jsonata : jsonPath)[type]]);

/** The AWS fields that this service does not implement. They are refused, not ignored. */
export const unimplementedFields: ReadonlySet<string> = new Set([
  "Credentials",
  "ItemReader",
  "ItemBatcher",
  "ResultWriter",
  "ToleratedFailureCount",
  "ToleratedFailureCountPath",
  "ToleratedFailurePercentage",
  "ToleratedFailurePercentagePath",
]);

/** The required fields. Exactly one of each group must exist. */
export const required: Readonly<Record<StateType, readonly (readonly string[])[]>> = {
  Pass: [["Next", "End"]],
  Task: [["Next", "End"], ["Resource"]],
  Choice: [["Choices"]],
  Wait: [
    ["Next", "End"],
    ["Seconds", "SecondsPath", "Timestamp", "TimestampPath"],
  ],
  Succeed: [],
  Fail: [],
  Parallel: [["Next", "End"], ["Branches"]],
  Map: [
    ["Next", "End"],
    ["ItemProcessor", "Iterator"],
  ],
};
