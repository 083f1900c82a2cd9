import type { Command, Option } from "commander";
import { createProgram } from "../../cli/program";
import { InvalidInputError } from "../../core/errors";

/** Values of which each option accepts one, as a single value and with another key. */
const samples = [
  ["1", "2"],
  ["32x32", "16x16"],
  ["a=1", "b=2"],
] as const;

const commandsOf = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commandsOf)];

const pathOf = (command: Command): readonly string[] =>
  command.parent ? [...pathOf(command.parent), command.name()] : [];

function parse(path: readonly string[], args: readonly string[]): Readonly<Record<string, unknown>> {
  const command = path.reduce<Command>((at, name) => at.commands.find((one) => one.name() === name)!, createProgram());
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.parseOptions([...args]);
  return command.opts();
}

const flagOf = ({ long, short }: Option): string => (long ?? short)!;

const options = commandsOf(createProgram()).flatMap((command) =>
  command.options
    .filter(({ long }) => long !== "--version")
    .map((option) => ({ path: pathOf(command), option, title: [...pathOf(command), flagOf(option)].join(" ") })),
);

it.each(options)("$title collects its values or is refused when repeated", ({ path, option }) => {
  const given = (value: string): readonly string[] =>
    option.required || option.optional ? [flagOf(option), value] : [flagOf(option)];
  const pair = [...(option.argChoices ? [option.argChoices.slice(0, 2)] : []), ...samples].find(([value]) => {
    try {
      parse(path, given(value!));
      return true;
    } catch {
      return false;
    }
  });
  if (!pair) throw new Error("no sample is valid");
  const [one, other = one] = pair as readonly string[];
  const twice = [...given(one!), ...given(other!)];
  let values: unknown;
  try {
    values = parse(path, twice)[option.attributeName()];
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputError);
    const [problem] = (error as InvalidInputError).details!["problems"] as readonly unknown[];
    expect(problem).toMatchObject({ path: flagOf(option), rule: "must be given once" });
    return;
  }
  expect(values).toEqual([one, other]);
});

it("walks every command", () => expect(options.length).toBeGreaterThan(200));

it.each([
  [["views", "join"], ["--views", "a,b", "--views", "c"], { views: ["a", "b", "c"] }],
  [["datasets", "push"], ["--missing", "NA, ?", "--missing=-"], { missing: ["NA", "?", "-"] }],
  [["runs", "list"], ["--metric", "loss", "--metric", "accuracy"], { metric: ["loss", "accuracy"] }],
])("%j %j collects", (path, args, values) => expect(parse(path, args)).toMatchObject(values));

it.each([
  [["submit"], ["--set", "seed=1", "--set", "seed=2"], "must be given once for seed"],
  [["views", "get"], ["--entity", "customer=1", "--entity=customer=2"], "must be given once for customer"],
  [["models", "traffic", "set"], ["--canary", "4=0.1", "--canary", "4=0.2"], "must be given once for 4"],
  [["notify", "set"], ["--topic", "--no-topic"], "--no-topic must be given once"],
  [["views", "join"], ["-o", "a.csv", "--output=b.csv"], '--output is "b.csv", but must be given once'],
])("%j %j is refused", (path, args, message) => {
  expect(() => parse(path, args)).toThrow(InvalidInputError);
  expect(() => parse(path, args)).toThrow(message);
});
