import aslValidator from "asl-validator";
import { validateDefinition } from "../../../local/states/validate";
import { stateMachineText } from "../../../state-machines/definition";

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
const only = "the embedded Step Functions implement JSONata only";
const all = "States.ALL must appear alone, in the last element of the list";
const execution = "must have ExecutionType STANDARD with DISTRIBUTED, and none with INLINE";

describe("a definition is refused with", () => {
  it.each<[string, object]>([
    ["/States: Invalid input: expected record, received undefined", { ...machine, States: undefined }],
    ["/StartAt: there is no state 'X'", { ...machine, StartAt: "X" }],
    ['/: Unrecognized key: "Timeout"', { ...machine, Timeout: 1 }],
    [`/QueryLanguage: ${only}`, { ...machine, QueryLanguage: "JSONPath" }],
    [`/QueryLanguage: ${only}`, { ...machine, QueryLanguage: undefined }],
    ["/TimeoutSeconds: Too small: expected number to be >=1", { ...machine, TimeoutSeconds: 0 }],
    ["/States/T: state 'T' is not reachable", jsonata(pass, {}, { T: pass })],
  ])("%s", (finding, definition) => {
    expect(findings(definition)).toContain(finding);
  });

  const count = (min: number) => `must be a whole number between ${min} and 99999999, or a JSONata expression`;
  it.each<[string, object]>([
    [
      '/Type: Invalid option: expected one of "Pass"|"Task"|"Choice"|"Wait"|"Succeed"|"Fail"|"Parallel"|"Map"',
      { Type: "Activity" },
    ],
    [": must have exactly one of Next, End", { Type: "Pass" }],
    [": must have exactly one of Next, End", { ...pass, Next: "S" }],
    ["/Next: there is no state 'X'", { Type: "Pass", Next: "X" }],
    [': Unrecognized key: "Ouput"', { ...pass, Ouput: 1 }],
    ["/Seconds: a Pass has no field 'Seconds'", { ...pass, Seconds: 1 }],
    [`/QueryLanguage: ${only}`, { ...pass, QueryLanguage: "JSONPath" }],
    [
      "/Output: the JSONata expression is invalid: S0207: Unexpected end of expression",
      { ...pass, Output: "{% 1 + %}" },
    ],
    ["/Output/a[0]: the JSONata expression is empty", { ...pass, Output: { a: ["{%%}"] } }],
    [
      "/Output: a JSONata expression must start with '{%' and end with '%}', without spaces around them",
      { ...pass, Output: " {% 1 %}" },
    ],
    ["/Output: '$$' is not supported in a JSONata expression: use $states.input", { ...pass, Output: "{% $$.a %}" }],
    ["/Assign/states: the variable name 'states' is reserved", { ...pass, Assign: { states: 1 } }],
    ["/Assign/a-b: invalid variable name 'a-b'", { ...pass, Assign: { "a-b": 1 } }],
    [
      '/Resource: Invalid option: expected one of "arn:aws:states:::lambda:invoke"|"arn:aws:states:::lambda:invoke.waitForTaskToken"',
      { ...task, Resource: "arn:aws:states:::batch:submitJob.sync" },
    ],
    [": must have Resource", { ...task, Resource: undefined }],
    ["/HeartbeatSeconds: must be smaller than TimeoutSeconds", { ...task, TimeoutSeconds: 5, HeartbeatSeconds: 5 }],
    [`/Seconds: ${count(0)}`, { Type: "Wait", Seconds: 0.5, End: true }],
    [`/TimeoutSeconds: ${count(1)}`, { ...task, TimeoutSeconds: "soon" }],
    [": must have exactly one of Seconds, Timestamp", { Type: "Wait", Seconds: 1, Timestamp: "x", End: true }],
    ["/Choices: Too small: expected array to have >=1 items", { Type: "Choice", Choices: [] }],
    ["/Choices[0]/Condition: Invalid input", choice({ Next: "S" })],
    ["/Choices[0]/Condition: the JSONata expression is empty", choice({ Condition: "{% %}", Next: "S" })],
    ["/Choices[0]/Next: there is no state 'X'", choice({ Condition: true, Next: "X" })],
    ["/Default: there is no state 'X'", choice({ Condition: true, Next: "S" }, { Default: "X" })],
    ["/Retry[0]/ErrorEquals: Too small: expected array to have >=1 items", retry({ ErrorEquals: [] })],
    ["/Retry[0]/BackoffRate: Too small: expected number to be >=1", retry({ ErrorEquals: ["A"], BackoffRate: 0.5 })],
    [`/Retry[0]/ErrorEquals: ${all}`, retry({ ErrorEquals: ["States.ALL"] }, { ErrorEquals: ["A"] })],
    [`/Retry[0]/ErrorEquals: ${all}`, retry({ ErrorEquals: ["States.ALL", "A"] })],
    ["/Catch[0]/Next: there is no state 'X'", { ...task, Catch: [{ ErrorEquals: ["A"], Next: "X" }] }],
    [
      '/Catch[0]: Unrecognized key: "ResultPath"',
      { ...task, Catch: [{ ErrorEquals: ["A"], Next: "S", ResultPath: "$" }] },
    ],
    ["/Branches: Too small: expected array to have >=1 items", parallel()],
    ["/Branches[1]/States/A: another state is called 'A'", parallel(inner("A"), inner("A"))],
    ["/Branches[0]/States/A/Next: there is no state 'S'", parallel(inner("A", { End: undefined, Next: "S" }))],
    [`/ItemProcessor/ProcessorConfig: ${execution}`, map({}, mode("DISTRIBUTED"))],
    [`/ItemProcessor/ProcessorConfig: ${execution}`, map({}, mode("INLINE", { ExecutionType: "STANDARD" }))],
    [
      '/ItemProcessor/ProcessorConfig/ExecutionType: Invalid input: expected "STANDARD"',
      map({}, mode("DISTRIBUTED", { ExecutionType: "EXPRESS" })),
    ],
    [
      '/ItemProcessor/ProcessorConfig/Mode: Invalid option: expected one of "INLINE"|"DISTRIBUTED"',
      map({}, mode("WIDE")),
    ],
    ["/Label: is only supported in DISTRIBUTED mode", map({ Label: "L" })],
    ["/Label: must be 1 to 40 letters, digits, or any of _ . -", map({ Label: "a/b" }, standard)],
    [': Unrecognized key: "ItemReader"', map({ ItemReader: {} })],
    [
      "/ItemProcessor/States/A: the variable 'x' is assigned in an outer scope already",
      map({ Assign: { x: 1 } }, inner("A", { Assign: { x: 1 } })),
    ],
  ])("/States/S%s", (finding, state) => {
    expect(findings(jsonata(state))).toContain(`/States/S${finding}`);
  });

  it("all wrong fields at once", () => {
    const wrong = jsonata({ Type: "Wait", Seconds: -1, Next: 1, Ouput: 1 });
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

  it("of the product", () => {
    expect(validateDefinition(stateMachineText().replace(/\$\{([\w-]+)\}/g, "$1"))).toEqual([]);
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
