import { definePipeline, expression } from "../../../core/pipelines/define";
import { planOf } from "../../../core/pipelines/plan";

type Make = typeof import("./steps/make");
type Total = typeof import("./steps/total");

test("a pipeline in TypeScript is the definition of YAML, and inputs have the types of outputs", () => {
  const definition = definePipeline(
    "typed",
    { rows: { type: "integer", default: 4 } },
    ({ parameters, step, each, add, last }) => {
      const make = step<Make>("make", "make.ts", { input: { rows: parameters.rows } });
      each<Make, number>("again", "make.ts", make.output.list, { concurrency: 2, input: (item) => ({ rows: item }) });
      const total = step<Total>("total", "total.ts", { input: { values: make.output.list } });
      add("late", {
        fail: expression<string>`'total ' & ${total.output.total}`,
        when: expression`${total.output.total} > 5`,
      });
      last.step<Total>("report", "total.ts", { input: { values: [1, make.output.n] } });
      // @ts-expect-error a number is not a list
      step<Total>("wrong", "total.ts", { input: { values: make.output.n } });
      // @ts-expect-error the output has no such field
      step<Total>("absent", "total.ts", { input: { values: make.output.lists } });
    },
  );
  const x = (text: string) => `\${${text}}`;
  const { steps, finally: last } = JSON.parse(JSON.stringify(definition)) as Record<string, Record<string, object>>;
  expect({ steps, last }).toMatchObject({
    steps: {
      make: { function: { module: "make.ts" }, input: { rows: x("parameters.rows") } },
      again: { forEach: x("steps.make.output.list"), concurrency: 2, input: { rows: x("item") } },
      late: { fail: x("('total ' & steps.total.output.total)"), when: x("(steps.total.output.total > 5)") },
    },
    last: { report: { input: { values: [1, x("steps.make.output.n")] } } },
  });
  expect(planOf(JSON.parse(JSON.stringify(definition))).steps["late"]!.after).toEqual(["total"]);
});
