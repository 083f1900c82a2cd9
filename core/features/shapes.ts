import * as z from "zod";
import type { Shape } from "../deep-readonly";
import { category, count } from "../shapes";

const place = { column: z.string(), offset: count, width: count, source: count };

export const featureTransform = z
  .object({
    outputs: z.array(
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("numeric"), ...place, mean: z.number(), deviation: z.number() }),
        z.object({
          kind: z.literal("one-hot"),
          ...place,
          part: z.enum(["hour", "dayOfWeek", "month"]).optional(),
          vocabulary: z.array(category),
        }),
      ]),
    ),
    width: count,
    shape: z.array(count),
  })
  .meta({
    id: "FeatureTransform",
    description: "The fitted transform: raw row in, dense input out.",
  });
export interface FeatureTransform extends Shape<typeof featureTransform> {}
export type FeatureOutput = FeatureTransform["outputs"][number];

export const labelEncoding = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("class"), column: z.string(), classes: z.array(category) }),
    z.object({ kind: z.literal("value"), column: z.string() }),
  ])
  .meta({ id: "LabelEncoding" });
export type LabelEncoding = Shape<typeof labelEncoding>;
