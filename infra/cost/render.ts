import { instancePricesAsOf } from "../../core/metering/prices";
import type { IdleCost } from "./idle";
import type { RunCost, RunPlan } from "./run";

const usd = (amount: number) => `$${amount.toFixed(2)}`;
const line = (amount: number, what: string) => `${usd(amount).padStart(10)}  ${what}`;

export function renderIdle({ lines, free, usdAMonth }: IdleCost, asOf: string): string {
  return [
    "A month in which nothing happens costs, in us-east-1:",
    "",
    ...lines.map(({ usdAMonth: amount, stack, logicalId, type, because }) =>
      line(amount, `${stack}/${logicalId} (${type.replace("AWS::", "")}): ${because}`),
    ),
    "",
    line(usdAMonth, `in all; the other ${free} resources cost nothing while nothing happens`),
    "",
    `List prices of ${asOf}, without any free tier; stored data comes on top (infra/cost/prices.ts). Check before you rely on it.`,
  ].join("\n");
}

export function renderRun({ nodes, hours, market, instanceType }: RunPlan, { parts, usd: sum }: RunCost): string {
  return [
    `A run of ${nodes} × ${instanceType}, ${hours} h, ${market}, costs about, in us-east-1:`,
    "",
    ...parts.map(({ what, usd: amount }) => line(amount, what)),
    "",
    line(sum, "in all"),
    "",
    `List prices of ${instancePricesAsOf}; spot prices are estimates (core/metering/prices.ts). Check before you rely on it.`,
  ].join("\n");
}
