import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import aslValidator from "asl-validator";
import { validateDefinition } from "../../../local/states/asl/validate";

const machines = join(__dirname, "../../../state-machines");
const pass = { Type: "Pass", End: true };
const task = { Type: "Task", Resource: "arn:aws:states:::lambda:invoke", Arguments: { FunctionName: "f" }, End: true };
const jsonata = (S: object, more: object = {}, others: object = {}) => ({
  QueryLanguage: "JSONata",
  StartAt: "S",
  States: { S, ...others },
  ...more,
});
const inner = (name: string, more: object = {}) => ({ StartAt: name, States: { [name]: { ...pass, ...more } } });
const findings = (definition: unknown) =>
  validateDefinition(JSON.stringify(definition)).map(({ location, message }) => `${location}: ${message}`);

const machine = jsonata(pass);
const map = (more: object, processor: object = {}) => ({
  Type: "Map",
  ItemProcessor: { ...inner("A"), ...processor },
  End: true,
  ...more,
});
const mode = (Mode: string, more: object = {}) => ({ ProcessorConfig: { Mode, ...more } });
const standard = mode("DISTRIBUTED", { ExecutionType: "STANDARD" });
const retry = (...retriers: readonly object[]) => ({ ...task, Retry: retriers });
const choice = (rule: object, more: object = {}) => ({ Type: "Choice", Choices: [rule], ...more });
const parallel = (...Branches: readonly object[]) => ({ Type: "Parallel", Branches, End: true });
const only = "The embedded Step Functions implement JSONata only";

describe("a definition is refused with", () => {
  it.each<[string, object]>([
    ["/: These fields are required: [States]", { ...machine, States: undefined }],
    ["/StartAt: Missing 'StartAt' target: X", { ...machine, StartAt: "X" }],
    ["/Timeout: Field 'Timeout' is not supported", { ...machine, Timeout: 1 }],
    [`/QueryLanguage: ${only}, not "jq"`, { ...machine, QueryLanguage: "jq" }],
    [`/QueryLanguage: ${only}, not "JSONPath"`, { ...machine, QueryLanguage: undefined }],
    ["/TimeoutSeconds: Expected value of type Integer between 1 and 99999999", { ...machine, TimeoutSeconds: 0 }],
    ['/States/T: State "T" is not reachable.', jsonata(pass, {}, { T: pass })],
  ])("%s", (finding, definition) => {
    expect(findings(definition)).toContain(finding);
  });

  it.each<[string, object]>([
    [
      "/Type: Invalid Type 'Activity' of state 'S'. Expected one of: [Pass, Task, Choice, Wait, Succeed, Fail, Parallel, Map]",
      { Type: "Activity" },
    ],
    [": These fields are required: [Next or End]", { Type: "Pass" }],
    [": Only one of these fields is allowed: [Next, End]", { ...pass, Next: "S" }],
    ["/Next: Missing 'Next' target: X", { Type: "Pass", Next: "X" }],
    ["/Ouput: Field 'Ouput' is not supported", { ...pass, Ouput: 1 }],
    [`/QueryLanguage: ${only}`, { ...pass, QueryLanguage: "JSONPath" }],
    [
      "/Output: The JSONata expression is invalid: S0207: Unexpected end of expression",
      { ...pass, Output: "{% 1 + %}" },
    ],
    ["/Output/a[0]: The JSONata expression is empty", { ...pass, Output: { a: ["{%%}"] } }],
    [
      "/Output: A JSONata expression must start with '{%' and end with '%}', without spaces around them",
      { ...pass, Output: " {% 1 %}" },
    ],
    ["/Output: '$$' is not supported in a JSONata expression: use $states.input", { ...pass, Output: "{% $$.a %}" }],
    ["/Assign/states: The variable name 'states' is reserved", { ...pass, Assign: { states: 1 } }],
    ["/Assign/a-b: Invalid variable name 'a-b'", { ...pass, Assign: { "a-b": 1 } }],
    [
      "/Resource: The resource 'arn:aws:states:::batch:submitJob.sync' is not implemented by the embedded Step Functions. Implemented: arn:aws:states:::lambda:invoke, arn:aws:states:::lambda:invoke.waitForTaskToken",
      { ...task, Resource: "arn:aws:states:::batch:submitJob.sync" },
    ],
    [
      "/Credentials: Field 'Credentials' is not implemented by the embedded Step Functions",
      { ...task, Credentials: {} },
    ],
    [
      "/HeartbeatSeconds: HeartbeatSeconds must be smaller than TimeoutSeconds",
      { ...task, TimeoutSeconds: 5, HeartbeatSeconds: 5 },
    ],
    ["/Seconds: Expected value of type Integer between 0 and 99999999", { Type: "Wait", Seconds: 0.5, End: true }],
    [
      ": Only one of these fields is allowed: [Seconds, Timestamp]",
      { Type: "Wait", Seconds: 1, Timestamp: "x", End: true },
    ],
    [": These fields are required: [Seconds or Timestamp]", { Type: "Wait", End: true }],
    ["/Choices: Expected value of type Array with at least one rule", { Type: "Choice", Choices: [] }],
    ["/Choices[0]: These fields are required: [Condition]", choice({ Next: "S" })],
    ["/Choices[0]/Next: Missing 'Next' target: X", choice({ Condition: true, Next: "X" })],
    ["/Default: Missing 'Default' target: X", choice({ Condition: true, Next: "S" }, { Default: "X" })],
    ["/Retry[0]/ErrorEquals: Expected value of type Array of at least one String", retry({ ErrorEquals: [] })],
    [
      "/Retry[0]/BackoffRate: Value must be a number of at least 1.0, not 0.5",
      retry({ ErrorEquals: ["A"], BackoffRate: 0.5 }),
    ],
    [
      "/Retry[0]/ErrorEquals: States.ALL can only appear in the last element of the list",
      retry({ ErrorEquals: ["States.ALL"] }, { ErrorEquals: ["A"] }),
    ],
    ["/Retry[0]/ErrorEquals: States.ALL must appear alone", retry({ ErrorEquals: ["States.ALL", "A"] })],
    ["/Catch[0]/Next: Missing 'Next' target: X", { ...task, Catch: [{ ErrorEquals: ["A"], Next: "X" }] }],
    [
      "/Catch[0]/ResultPath: Field 'ResultPath' is not supported",
      { ...task, Catch: [{ ErrorEquals: ["A"], Next: "S", ResultPath: "$" }] },
    ],
    ["/Branches: Expected value of type Array with at least one branch", parallel()],
    ["/Branches[1]/States/A: Duplicate state name: A", parallel(inner("A"), inner("A"))],
    ["/Branches[0]/States/A/Next: Missing 'Next' target: S", parallel(inner("A", { End: undefined, Next: "S" }))],
    [
      "/ItemProcessor/ProcessorConfig/ExecutionType: Value must be one of: [STANDARD, EXPRESS]",
      map({}, mode("DISTRIBUTED")),
    ],
    [
      "/ItemProcessor/ProcessorConfig/ExecutionType: EXPRESS child executions are not implemented by the embedded Step Functions: use STANDARD",
      map({}, mode("DISTRIBUTED", { ExecutionType: "EXPRESS" })),
    ],
    ["/ItemProcessor/ProcessorConfig/Mode: Value must be one of: [INLINE, DISTRIBUTED]", map({}, mode("WIDE"))],
    ["/Label: Field 'Label' is only supported in DISTRIBUTED mode", map({ Label: "L" })],
    [
      "/Label: Expected value of type String with 1 to 40 letters, digits, or any of _ . -",
      map({ Label: "a/b" }, standard),
    ],
    ["/ItemReader: Field 'ItemReader' is not implemented by the embedded Step Functions", map({ ItemReader: {} })],
    [
      "/ItemProcessor/States/A/Assign/x: The variable 'x' is assigned in an outer scope already",
      map({ Assign: { x: 1 } }, inner("A", { Assign: { x: 1 } })),
    ],
  ])("/States/S%s", (finding, state) => {
    expect(findings(jsonata(state))).toContain(`/States/S${finding}`);
  });

  it("everything at once", () => {
    const wrong = jsonata({ Type: "Wait", Seconds: -1, Next: "X", Ouput: 1 });
    expect(findings(wrong)).toHaveLength(3);
  });

  it.each([
    ["", "SCHEMA_VALIDATION_FAILED"],
    ["{", "INVALID_JSON_DESCRIPTION"],
    ["[".repeat(500_000), "INVALID_JSON_DESCRIPTION"],
    ["[]", "SCHEMA_VALIDATION_FAILED"],
  ])("text %#", (text, code) => {
    expect(validateDefinition(text)).toMatchObject([{ code }]);
  });
});

describe("a definition is accepted", () => {
  const next = { End: undefined, Next: "T" };
  it.each<[string, object]>([
    [
      "a task with everything",
      jsonata(
        {
          ...task,
          ...next,
          ...{
            Assign: { x: "{% $states.result %}" },
            Output: { a: 1 },
            TimeoutSeconds: "{% 5 %}",
            HeartbeatSeconds: 2,
          },
          Retry: [
            {
              ...{ ErrorEquals: ["A"], IntervalSeconds: 1, BackoffRate: 1.5 },
              ...{ MaxAttempts: 0, MaxDelaySeconds: 5, JitterStrategy: "FULL" },
            },
          ],
          Catch: [{ ErrorEquals: ["States.ALL"], Next: "T", Output: "{% $states.errorOutput %}", Assign: { y: 1 } }],
        },
        {},
        { T: pass },
      ),
    ],
    ["a Map", jsonata(map({ Items: "{% $states.input %}", MaxConcurrency: 5 }, mode("INLINE")))],
    ["a Fail", jsonata({ Type: "Fail", Error: "{% 'E' %}", Cause: "because" })],
  ])("%s, as another validator has it too", (_title, definition) => {
    expect(findings(definition)).toEqual([]);
    expect(aslValidator(JSON.parse(JSON.stringify(definition)))).toMatchObject({ isValid: true });
  });

  it.each(readdirSync(machines).filter((file) => file.endsWith(".asl.json")))("of the product: %s", (file) => {
    const text = readFileSync(join(machines, file), "utf8").replace(/\$\{([\w-]+)\}/g, "$1");
    expect(validateDefinition(text)).toEqual([]);
  });

  it.each<[string, object]>([
    ["a missing target", jsonata({ Type: "Pass", Next: "X" })],
    ["an unknown type", jsonata({ Type: "Nap", End: true })],
    ["no States", { StartAt: "S" }],
    ["an unreachable state", jsonata(pass, {}, { T: pass })],
  ])("by neither with %s", (_title, definition) => {
    expect(findings(definition)).not.toEqual([]);
    expect(aslValidator(JSON.parse(JSON.stringify(definition)))).toMatchObject({ isValid: false });
  });
});
