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

describe("a definition is refused for", () => {
  it.each<[string, unknown, string]>([
    ["no states", { QueryLanguage: "JSONata", StartAt: "S" }, "/: These fields are required: [States]"],
    ["a start that is not there", jsonata(pass, { StartAt: "X" }), "/StartAt: Missing 'StartAt' target: X"],
    ["an unknown field of the machine", jsonata(pass, { Timeout: 1 }), "/Timeout: Field 'Timeout' is not supported"],
    [
      "an unknown query language",
      jsonata(pass, { QueryLanguage: "jq" }),
      '/QueryLanguage: The embedded Step Functions implement JSONata only, not "jq"',
    ],
    [
      "the default query language",
      { StartAt: "S", States: { S: pass } },
      '/QueryLanguage: The embedded Step Functions implement JSONata only, not "JSONPath"',
    ],
    [
      "a machine's timeout",
      jsonata(pass, { TimeoutSeconds: 0 }),
      "/TimeoutSeconds: Expected value of type Integer between 1 and 99999999",
    ],
    [
      "an unknown type",
      jsonata({ Type: "Activity" }),
      "/States/S/Type: Invalid Type 'Activity' of state 'S'. Expected one of: [Pass, Task, Choice, Wait, Succeed, Fail, Parallel, Map]",
    ],
    ["neither Next nor End", jsonata({ Type: "Pass" }), "/States/S: These fields are required: [Next or End]"],
    [
      "both Next and End",
      jsonata({ ...pass, Next: "S" }),
      "/States/S: Only one of these fields is allowed: [Next, End]",
    ],
    ["a Next that is not there", jsonata({ Type: "Pass", Next: "X" }), "/States/S/Next: Missing 'Next' target: X"],
    ["a state that nothing leads to", jsonata(pass, {}, { T: pass }), '/States/T: State "T" is not reachable.'],
    ["a misspelt field", jsonata({ ...pass, Ouput: 1 }), "/States/S/Ouput: Field 'Ouput' is not supported"],
    [
      "JSONPath's fields in JSONata",
      jsonata({ ...pass, ResultPath: "$" }),
      "/States/S/ResultPath: Field 'ResultPath' is not supported",
    ],
    [
      "a state in another language",
      jsonata({ ...pass, QueryLanguage: "JSONPath" }),
      "/States/S/QueryLanguage: The embedded Step Functions implement JSONata only",
    ],
    [
      "an expression that does not parse",
      jsonata({ ...pass, Output: "{% 1 + %}" }),
      "/States/S/Output: The JSONata expression is invalid: S0207: Unexpected end of expression",
    ],
    [
      "an empty expression",
      jsonata({ ...pass, Output: { a: ["{%%}"] } }),
      "/States/S/Output/a[0]: The JSONata expression is empty",
    ],
    [
      "a space before an expression",
      jsonata({ ...pass, Output: " {% 1 %}" }),
      "/States/S/Output: A JSONata expression must start with '{%' and end with '%}', without spaces around them",
    ],
    [
      "$$ in an expression",
      jsonata({ ...pass, Output: "{% $$.a %}" }),
      "/States/S/Output: '$$' is not supported in a JSONata expression: use $states.input",
    ],
    [
      "an assignment to $states",
      jsonata({ ...pass, Assign: { states: 1 } }),
      "/States/S/Assign/states: The variable name 'states' is reserved",
    ],
    [
      "an impossible variable's name",
      jsonata({ ...pass, Assign: { "a-b": 1 } }),
      "/States/S/Assign/a-b: Invalid variable name 'a-b'",
    ],
    [
      "a resource that is not implemented",
      jsonata({ ...task, Resource: "arn:aws:states:::batch:submitJob.sync" }),
      "/States/S/Resource: The resource 'arn:aws:states:::batch:submitJob.sync' is not implemented by the embedded Step Functions. Implemented: arn:aws:states:::lambda:invoke, arn:aws:states:::lambda:invoke.waitForTaskToken",
    ],
    [
      "credentials",
      jsonata({ ...task, Credentials: {} }),
      "/States/S/Credentials: Field 'Credentials' is not implemented by the embedded Step Functions",
    ],
    [
      "a heartbeat past the timeout",
      jsonata({ ...task, TimeoutSeconds: 5, HeartbeatSeconds: 5 }),
      "/States/S/HeartbeatSeconds: HeartbeatSeconds must be smaller than TimeoutSeconds",
    ],
    [
      "a fraction of a second",
      jsonata({ Type: "Wait", Seconds: 0.5, End: true }),
      "/States/S/Seconds: Expected value of type Integer between 0 and 99999999",
    ],
    [
      "a Wait for two things",
      jsonata({ Type: "Wait", Seconds: 1, Timestamp: "x", End: true }),
      "/States/S: Only one of these fields is allowed: [Seconds, Timestamp]",
    ],
    [
      "a Wait for nothing",
      jsonata({ Type: "Wait", End: true }),
      "/States/S: These fields are required: [Seconds or Timestamp]",
    ],
    [
      "a Choice without rules",
      jsonata({ Type: "Choice", Choices: [] }),
      "/States/S/Choices: Expected value of type Array with at least one rule",
    ],
    [
      "a rule without a condition",
      jsonata({ Type: "Choice", Choices: [{ Next: "S" }] }),
      "/States/S/Choices[0]: These fields are required: [Condition]",
    ],
    [
      "a rule that leads nowhere",
      jsonata({ Type: "Choice", Choices: [{ Condition: true, Next: "X" }] }),
      "/States/S/Choices[0]/Next: Missing 'Next' target: X",
    ],
    [
      "a Default that is not there",
      jsonata({ Type: "Choice", Choices: [{ Condition: true, Next: "S" }], Default: "X" }),
      "/States/S/Default: Missing 'Default' target: X",
    ],
    [
      "a retrier without errors",
      jsonata({ ...task, Retry: [{ ErrorEquals: [] }] }),
      "/States/S/Retry[0]/ErrorEquals: Expected value of type Array of at least one String",
    ],
    [
      "a backoff rate below 1",
      jsonata({ ...task, Retry: [{ ErrorEquals: ["A"], BackoffRate: 0.5 }] }),
      "/States/S/Retry[0]/BackoffRate: Value must be a number of at least 1.0, not 0.5",
    ],
    [
      "States.ALL before others",
      jsonata({ ...task, Retry: [{ ErrorEquals: ["States.ALL"] }, { ErrorEquals: ["A"] }] }),
      "/States/S/Retry[0]/ErrorEquals: States.ALL can only appear in the last element of the list",
    ],
    [
      "States.ALL among others",
      jsonata({ ...task, Retry: [{ ErrorEquals: ["States.ALL", "A"] }] }),
      "/States/S/Retry[0]/ErrorEquals: States.ALL must appear alone",
    ],
    [
      "a catcher that leads nowhere",
      jsonata({ ...task, Catch: [{ ErrorEquals: ["A"], Next: "X" }] }),
      "/States/S/Catch[0]/Next: Missing 'Next' target: X",
    ],
    [
      "a catcher's ResultPath in JSONata",
      jsonata({ ...task, Catch: [{ ErrorEquals: ["A"], Next: "S", ResultPath: "$" }] }),
      "/States/S/Catch[0]/ResultPath: Field 'ResultPath' is not supported",
    ],
    [
      "a Parallel without branches",
      jsonata({ Type: "Parallel", Branches: [], End: true }),
      "/States/S/Branches: Expected value of type Array with at least one branch",
    ],
    [
      "one name in two branches",
      jsonata({ Type: "Parallel", Branches: [inner("A"), inner("A")], End: true }),
      "/States/S/Branches[1]/States/A: Duplicate state name: A",
    ],
    [
      "a branch that leaves itself",
      jsonata({ Type: "Parallel", Branches: [inner("A", { End: undefined, Next: "S" })], End: true }),
      "/States/S/Branches[0]/States/A/Next: Missing 'Next' target: S",
    ],
    [
      "a distributed Map without the type of its executions",
      jsonata({ Type: "Map", ItemProcessor: { ...inner("A"), ProcessorConfig: { Mode: "DISTRIBUTED" } }, End: true }),
      "/States/S/ItemProcessor/ProcessorConfig/ExecutionType: Value must be one of: [STANDARD, EXPRESS]",
    ],
    [
      "a distributed Map of express executions",
      jsonata({
        Type: "Map",
        ItemProcessor: { ...inner("A"), ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "EXPRESS" } },
        End: true,
      }),
      "/States/S/ItemProcessor/ProcessorConfig/ExecutionType: EXPRESS child executions are not implemented by the embedded Step Functions: use STANDARD",
    ],
    [
      "an unknown mode of a Map",
      jsonata({ Type: "Map", ItemProcessor: { ...inner("A"), ProcessorConfig: { Mode: "WIDE" } }, End: true }),
      "/States/S/ItemProcessor/ProcessorConfig/Mode: Value must be one of: [INLINE, DISTRIBUTED]",
    ],
    [
      "the label of an inline Map",
      jsonata({ Type: "Map", Label: "L", ItemProcessor: inner("A"), End: true }),
      "/States/S/Label: Field 'Label' is only supported in DISTRIBUTED mode",
    ],
    [
      "a label with a slash",
      jsonata({
        Type: "Map",
        Label: "a/b",
        ItemProcessor: { ...inner("A"), ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" } },
        End: true,
      }),
      "/States/S/Label: Expected value of type String with 1 to 40 letters, digits, or any of _ . -",
    ],
    [
      "items from S3",
      jsonata({ Type: "Map", ItemReader: {}, ItemProcessor: inner("A"), End: true }),
      "/States/S/ItemReader: Field 'ItemReader' is not implemented by the embedded Step Functions",
    ],
    [
      "an inner variable that hides an outer one",
      jsonata({ Type: "Map", ItemProcessor: inner("A", { Assign: { x: 1 } }), Assign: { x: 1 }, End: true }),
      "/States/S/ItemProcessor/States/A/Assign/x: The variable 'x' is assigned in an outer scope already",
    ],
  ])("%s", (_title, definition, finding) => {
    expect(findings(definition)).toContain(finding);
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
  ])("the text %j", (text, code) => {
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
          Assign: { x: "{% $states.result %}" },
          Output: { a: 1 },
          TimeoutSeconds: "{% 5 %}",
          HeartbeatSeconds: 2,
          Retry: [
            {
              ErrorEquals: ["A"],
              IntervalSeconds: 1,
              BackoffRate: 1.5,
              MaxAttempts: 0,
              MaxDelaySeconds: 5,
              JitterStrategy: "FULL",
            },
          ],
          Catch: [{ ErrorEquals: ["States.ALL"], Next: "T", Output: "{% $states.errorOutput %}", Assign: { y: 1 } }],
        },
        {},
        { T: pass },
      ),
    ],
    [
      "a Map",
      jsonata({
        Type: "Map",
        Items: "{% $states.input %}",
        MaxConcurrency: 5,
        ItemProcessor: { ...inner("A"), ProcessorConfig: { Mode: "INLINE" } },
        End: true,
      }),
    ],
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
