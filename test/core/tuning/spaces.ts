import { drawsFor } from "../../../core/tuning/samplers/sampler";
import { contains, isActive, type Point, parameterOrder, type Space, spaceSchema } from "../../../core/tuning/space";

/** Has a condition, steps, logarithms, choices and a constant. */
export const conditional: Space = spaceSchema.parse({
  rate: { type: "float", low: 1e-5, high: 1, log: true },
  momentum: { type: "float", low: 0, high: 0.9, step: 0.1, when: { parameter: "optimizer", in: ["sgd"] } },
  optimizer: { type: "categorical", choices: ["sgd", "adam"] },
  width: { type: "int", low: 8, high: 512, log: true },
  layers: { type: "int", low: 2, high: 10, step: 2 },
  fixed: { type: "float", low: 3, high: 3 },
});

export function randomSpace(seed: number): Space {
  const draws = drawsFor(seed, 77);
  const parameters: Record<string, object> = { kind: { type: "categorical", choices: ["a", 1, null, { b: 2 }] } };
  for (let i = 0; i < 1 + draws.index(5); i += 1) {
    const low = 1 + draws.index(20);
    const high = low + draws.index(30);
    const when = draws.uniform() < 0.4 ? { when: { parameter: "kind", in: [1, { b: 2 }] } } : {};
    const scale = [{}, { log: true }, high > low ? { step: 1 } : {}][draws.index(3)];
    parameters[`p${i}`] = { type: draws.uniform() < 0.5 ? "int" : "float", low, high, ...scale, ...when };
  }
  return spaceSchema.parse(parameters);
}

export function expectValid(space: Space, point: Point): void {
  const active: Record<string, Point[string]> = {};
  for (const name of parameterOrder(space)) {
    const parameter = space[name]!;
    expect([name, Object.hasOwn(point, name)]).toEqual([name, isActive(parameter, active)]);
    if (!Object.hasOwn(point, name)) continue;
    active[name] = point[name]!;
    expect([name, point[name], contains(parameter, point[name]!)]).toEqual([name, point[name], true]);
  }
  expect(Object.keys(point).sort()).toEqual(Object.keys(active).sort());
}
