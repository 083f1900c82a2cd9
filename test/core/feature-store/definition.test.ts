import { checkDefinition, parseViewDefinition } from "../../../core/feature-store/definition";
import { viewDefinition } from "../../../core/feature-store/shapes";

const file = (more: string) => `name: spend
owner: growth
entities: [customer]
eventTime: at
columns:
  customer: int
  at: timestamp
  spend: float
${more}`;

describe("the file of a feature view", () => {
  it.each([
    ["an unknown column", "steps:\n  - {kind: log, column: spend}\n  - {kind: log, column: gone}\n", 11],
    ["a fitted step", "steps:\n  - {kind: log, column: spend}\n  - {kind: standardize, column: spend}\n", 11],
    ["names that differ in case alone", "  Spend: float\n", 9],
    ["a repeated step", "steps:\n  - {kind: log, column: spend}\n  - kind: log\n    column: spend\n", 11],
    [
      "boundaries, twice",
      "steps:\n  - kind: bucketize\n    column: spend\n    quantiles: 3\n    boundaries: [1]\n",
      13,
    ],
    ["a creation time of another type", "creationTime: spend\n", 9],
  ])("has the line of a problem: %s", (_case, more, line) => {
    const problems = () => parseViewDefinition(file(more), "spend.yaml");
    expect(problems).toThrow(`line ${line}: `);
    expect(problems).toThrow(/^spend\.yaml cannot be stored: /);
  });

  it("has no lines in a request", () => {
    const { steps: _, ...definition } = parseViewDefinition(file(""), "spend.yaml");
    const steps = [{ kind: "bucketize", column: "spend" }];
    const check = () => checkDefinition(viewDefinition.parse({ ...definition, steps }));
    expect(check).toThrow("steps[0].boundaries or quantiles is required");
    expect(check).not.toThrow("line");
  });
});
