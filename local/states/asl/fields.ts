import type { StateType } from "../types";

/** The fields that a state may have, by type, in JSONata (https://states-language.net/spec.html). */
const common = ["Type", "Comment", "QueryLanguage"];
const transition = ["Next", "End"];
const recovery = ["Retry", "Catch"];
const fields: Readonly<Record<StateType, readonly string[]>> = {
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
  typeof type === "string" && Object.hasOwn(fields, type);
export const stateTypes = Object.keys(fields);

export const allowedFields = (type: StateType): ReadonlySet<string> => new Set([...common, ...fields[type]]);

/** The AWS fields that this service does not implement. They are refused, not ignored. */
export const unimplementedFields: ReadonlySet<string> = new Set([
  "Credentials",
  "ItemReader",
  "ItemBatcher",
  "ResultWriter",
  "ToleratedFailureCount",
  "ToleratedFailurePercentage",
]);

export const required: Readonly<Record<StateType, readonly (readonly string[])[]>> = {
  Pass: [["Next", "End"]],
  Task: [["Next", "End"], ["Resource"]],
  Choice: [["Choices"]],
  Wait: [
    ["Next", "End"],
    ["Seconds", "Timestamp"],
  ],
  Succeed: [],
  Fail: [],
  Parallel: [["Next", "End"], ["Branches"]],
  Map: [["Next", "End"], ["ItemProcessor"]],
};
