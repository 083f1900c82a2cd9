/* The keys of the store are in `store/store.ts`. */

export function describeStatesKey(key: string): string {
  const [kind = "", machine = "", second = "", third = ""] = key.split("/");
  const execution = (name: string) => `execution ${name} of state machine ${machine}`;
  if (kind === "m") return `state machine ${machine}`;
  if (kind === "l") return `record ${Number(third)} of the log of ${execution(second)}`;
  if (kind === "s") return `the start time of ${execution(third)}`;
  if (kind === "o") return `the event that ${execution(second)} is ${third}`;
  return kind === "r" ? `the mark that ${execution(second)} is running` : execution(second);
}

export function deletedWith(key: string, all: readonly string[]): readonly string[] {
  const [kind, machine, name] = key.split("/");
  if (kind !== "l" && kind !== "x") return [key];
  return all.filter((each) => {
    const [other, of, second, third] = each.split("/");
    return of === machine && (other === "s" ? third : second) === name;
  });
}
