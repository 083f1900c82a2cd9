import {
  fromUnit,
  indexOfChoice,
  isActive,
  type Json,
  type Parameter,
  type Point,
  parameterOrder,
  type Space,
  snap,
} from "../space";

/** Perturbs or draws again each value of a point. Conditions that the new values meet add drawn values. */
export function explore(space: Space, point: Point, resample: number, draw: () => number): Point {
  const explored: Record<string, Json> = {};
  for (const name of parameterOrder(space)) {
    const parameter = space[name] as Parameter;
    const old = point[name];
    // Every parameter takes the same number of draws, so that a condition does not shift the draws of the others.
    const draws = [draw(), draw()] as const;
    if (!isActive(parameter, explored)) continue;
    explored[name] =
      old === undefined || draws[0] < resample ? fromUnit(parameter, draws[1]) : perturbed(parameter, old, draws[1]);
  }
  return explored;
}

/** Multiplies a number by 0.8 or 1.2 (Jaderberg et al., 2017), and takes a choice next to a choice. */
function perturbed(parameter: Parameter, old: Json, draw: number): Json {
  const direction = draw < 0.5 ? -1 : 1;
  if (parameter.type === "categorical") {
    const at = indexOfChoice(parameter.choices, old) + direction;
    return parameter.choices[Math.min(parameter.choices.length - 1, Math.max(0, at))] as Json;
  }
  const value = Number(old);
  const moved = snap(parameter, value * (1 + 0.2 * direction));
  return moved === value ? snap(parameter, value + direction * (parameter.step ?? 0)) : moved;
}
