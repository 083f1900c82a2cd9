/** Numbers as evidence shows them: five significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(5));
}

export function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${round(value)}`;
}

export function percent(share: number): number {
  return Math.round(share * 100);
}
