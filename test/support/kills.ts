/** Returns numbers in `[0, below)`; the same for the same seed. */
export function drawer(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/**
 * Returns a function that makes ports of a process which dies: the call after `calls` others throws, before it has an
 * effect or, with `isAfter`, after it.
 */
export function dyingPorts(calls: number, isAfter = false): <Port extends object>(port: Port) => Port {
  let left = calls;
  return <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const member = target[name as keyof Port];
        if (typeof member !== "function") return member;
        return async (...args: readonly unknown[]) => {
          left -= 1;
          if (left < 0 && !isAfter) throw new Error("kill -9");
          const result = await (member as (...all: unknown[]) => unknown).apply(target, [...args]);
          if (left < 0) throw new Error("kill -9");
          return result;
        };
      },
    });
}
